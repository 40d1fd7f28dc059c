#include "move.h"
const char *no_move(void)
{
	if (!(sys.uffd_features & UFFD_FEATURE_MOVE) ||
	    !(sys.uffd_features & UFFD_FEATURE_SIGBUS))
		return "no UFFDIO_MOVE; boot Linux 6.8 or later with CONFIG_USERFAULTFD=y";
	return NULL;
}
const struct named move_cases[]={{0,0,0}}, wake_cases[]={{0,0,0}}, notice_cases[]={{0,0,0}},move_race_cases[]={{0,0,0}};
const unsigned int nr_move_cases, nr_wake_cases, nr_notice_cases, nr_move_race_cases;
