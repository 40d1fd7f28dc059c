/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM pagerun

#if !defined(_TRACE_PAGERUN_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_PAGERUN_H

#include <linux/tracepoint.h>

/* A run of a large folio was taken by GUP-fast. flags are FOLL_* values. */
TRACE_EVENT(pagerun_pin,

	TP_PROTO(unsigned long addr, unsigned long pfn, unsigned int order,
		 unsigned int nr, unsigned int flags),

	TP_ARGS(addr, pfn, order, nr, flags),

	TP_STRUCT__entry(
		__field(unsigned long, addr)
		__field(unsigned long, pfn)
		__field(unsigned int, order)
		__field(unsigned int, nr)
		__field(unsigned int, flags)
	),

	TP_fast_assign(
		__entry->addr = addr;
		__entry->pfn = pfn;
		__entry->order = order;
		__entry->nr = nr;
		__entry->flags = flags;
	),

	TP_printk("addr=0x%lx pfn=0x%lx order=%u nr=%u flags=0x%x",
		  __entry->addr, __entry->pfn, __entry->order, __entry->nr,
		  __entry->flags)
);

/*
 * UFFDIO_MOVE tried a run: nr pages were moved, large of them in large folios that
 * stayed whole. 0 pages: all is left to the path for one page.
 */
TRACE_EVENT(pagerun_move,

	TP_PROTO(unsigned long src, unsigned long dst, unsigned int nr,
		 unsigned int large),

	TP_ARGS(src, dst, nr, large),

	TP_STRUCT__entry(
		__field(unsigned long, src)
		__field(unsigned long, dst)
		__field(unsigned int, nr)
		__field(unsigned int, large)
	),

	TP_fast_assign(
		__entry->src = src;
		__entry->dst = dst;
		__entry->nr = nr;
		__entry->large = large;
	),

	TP_printk("src=0x%lx dst=0x%lx nr=%u large=%u",
		  __entry->src, __entry->dst, __entry->nr, __entry->large)
);

/*
 * remap_pfn_range() came to nr pages that large entries could map, and mapped the
 * first large of them so. Fewer: a page table was there, or the architecture said no.
 */
TRACE_EVENT(pagerun_map,

	TP_PROTO(unsigned long addr, unsigned long pfn, unsigned int nr,
		 unsigned int large),

	TP_ARGS(addr, pfn, nr, large),

	TP_STRUCT__entry(
		__field(unsigned long, addr)
		__field(unsigned long, pfn)
		__field(unsigned int, nr)
		__field(unsigned int, large)
	),

	TP_fast_assign(
		__entry->addr = addr;
		__entry->pfn = pfn;
		__entry->nr = nr;
		__entry->large = large;
	),

	TP_printk("addr=0x%lx pfn=0x%lx nr=%u large=%u",
		  __entry->addr, __entry->pfn, __entry->nr, __entry->large)
);

/* A large entry was split: from addr on, that maps PFNs from pfn on. */
TRACE_EVENT(pagerun_map_split,

	TP_PROTO(unsigned long addr, unsigned long pfn),

	TP_ARGS(addr, pfn),

	TP_STRUCT__entry(
		__field(unsigned long, addr)
		__field(unsigned long, pfn)
	),

	TP_fast_assign(
		__entry->addr = addr;
		__entry->pfn = pfn;
	),

	TP_printk("addr=0x%lx pfn=0x%lx", __entry->addr, __entry->pfn)
);

/* A run of nr pages of a large folio, the first of them pfn, was found in an array. */
DECLARE_EVENT_CLASS(pagerun_array,

	TP_PROTO(unsigned long pfn, unsigned int order, unsigned int nr),

	TP_ARGS(pfn, order, nr),

	TP_STRUCT__entry(
		__field(unsigned long, pfn)
		__field(unsigned int, order)
		__field(unsigned int, nr)
	),

	TP_fast_assign(
		__entry->pfn = pfn;
		__entry->order = order;
		__entry->nr = nr;
	),

	TP_printk("pfn=0x%lx order=%u nr=%u",
		  __entry->pfn, __entry->order, __entry->nr)
);

/* Of pages to release. */
DEFINE_EVENT(pagerun_array, pagerun_unpin,
	TP_PROTO(unsigned long pfn, unsigned int order, unsigned int nr),
	TP_ARGS(pfn, order, nr)
);

/* Of a buffer that io_uring registers. */
DEFINE_EVENT(pagerun_array, pagerun_register,
	TP_PROTO(unsigned long pfn, unsigned int order, unsigned int nr),
	TP_ARGS(pfn, order, nr)
);

#endif /* _TRACE_PAGERUN_H */

#include <trace/define_trace.h>
