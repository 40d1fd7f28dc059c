// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the scripts of the lab against bad input: each fault has to be told in one
 * clear line, and nothing half-made may pass for good.
 *
 *	lab_test PATH-TO-LAB IMAGEDIR
 *
 * The kernel source is a sham with a Makefile that knows the targets which
 * lab/kernel uses, so that a build takes no time; the boots are real, of the
 * image that is given. All is done in a cache of its own.
 */
#include <err.h>
#include <limits.h>

#include "../ktap.h"
#include "capture.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static char lab[PATH_MAX];	/* the folder of the scripts */
static char image[PATH_MAX];	/* a real image */
static char dir[] = "/tmp/pagerun-lab-test.XXXXXX";

/*
 * Run a script of the lab, with the settings of @env before it. Its cache is
 * the test's own unless @env says otherwise.
 */
static void run(struct captured *c, const char *const *env, const char *script,
		const char *const *args)
{
	const char *argv[CAPTURE_MAX_ARGS + 8];
	char cache[PATH_MAX], path[PATH_MAX];
	size_t n = 0;

	snprintf(cache, sizeof(cache), "XDG_CACHE_HOME=%s/cache", dir);
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", lab, script) >= sizeof(path))
		capture_broken("the path of the lab is too long");
	argv[n++] = "/usr/bin/env";
	argv[n++] = cache;
	for (; env && *env && n < CAPTURE_MAX_ARGS; env++)
		argv[n++] = *env;
	argv[n++] = path;
	for (; args && *args && n < ARRAY_SIZE(argv) - 1; args++)
		argv[n++] = *args;
	argv[n] = NULL;
	capture_as(0, argv, c);
}

/* One result: exit code, a text in stderr, and how many lines that may have. */
static void expect(const char *name, struct captured *c, int code,
		   const char *text, unsigned int max_lines)
{
	bool good = c->code == code && strstr(c->err, text) &&
		    capture_lines(c->err) <= max_lines;

	if (!ktap_ok(good, "%s", name)) {
		ktap_diag("wanted: exit code %d, at most %u lines, with '%s'",
			  code, max_lines, text);
		ktap_diag("got: exit code %d, %u lines:", c->code,
			  capture_lines(c->err));
		ktap_diag("%s", c->err);
	}
	capture_free(c);
}

/* Run a script and judge it. */
static void check(const char *name, const char *const *env, const char *script,
		  const char *const *args, int code, const char *text,
		  unsigned int max_lines)
{
	struct captured c;

	run(&c, env, script, args);
	expect(name, &c, code, text, max_lines);
}

/* Strings that live until the end. */
static char *texts[256];
static size_t nr_texts;

static const char *__attribute__((format(printf, 1, 2))) format(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (nr_texts == ARRAY_SIZE(texts) || vasprintf(&texts[nr_texts], fmt, ap) < 0)
		capture_broken("no room for more strings");
	va_end(ap);
	return texts[nr_texts++];
}

static void shell(const char *command)
{
	struct captured c;

	capture_as(0, ARGS("/bin/sh", "-ec", command), &c);
	if (c.code) {
		ktap_diag("%s: %s", command, c.err);
		capture_broken("a preparation failed");
	}
	capture_free(&c);
}

/* The first line of what a script printed, without its newline. */
static const char *first_line(const struct captured *c)
{
	return format("%.*s", (int)strcspn(c->out, "\n"), c->out);
}

/*
 * A sham kernel source. allnoconfig takes the fragment as it is, less what is in
 * the file lost; the build copies.
 */
static void make_sham(void)
{
	shell(format("d=%s/sham; mkdir -p $d/include/linux $d/scripts $d/arch/x86/include $d/mm\n"
		     "touch $d/Kbuild $d/arch/x86/Makefile $d/include/linux/mm.h $d/scripts/x $d/arch/x86/include/x $d/lost\n"
		     "cat >$d/Makefile <<'END'\n"
		     "VERSION = 6\n"
		     "PATCHLEVEL = 12\n"
		     "SUBLEVEL = 1\n"
		     "allnoconfig:\n"
		     "\tgrep -vxFf lost $(KCONFIG_ALLCONFIG) >$(O)/.config\n"
		     "bzImage:\n"
		     "\tmkdir -p $(O)/arch/x86/boot $(O)/arch/x86/include/generated $(O)/mm $(O)/scripts $(O)/tools/objtool $(O)/include/config $(O)/include/generated\n"
		     "\ttouch $(O)/System.map $(O)/Module.symvers $(O)/mm/gup.o $(O)/tools/objtool/objtool\n"
		     "\tcp $(O)/.config $(O)/arch/x86/boot/bzImage\n"
		     "modules:\n"
		     "END\n", dir));
}

/* All programs of the machine but QEMU, as a PATH. */
static const char *path_without_qemu(void)
{
	shell(format("mkdir %s/bin; for d in /usr/sbin /usr/bin; do ln -sf $d/* %s/bin; done; rm -f %s/bin/qemu-*",
		     dir, dir, dir));
	return format("PATH=%s/bin", dir);
}

/* No option of that name, and help, of every script. */
static const char *const scripts[] = {
	"bench", "boot", "compare", "deps", "driver", "headers", "hooks-check", "kernel",
	"selftest", "series", "source", "wall",
};

static void test_usage(void)
{
	struct captured c;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(scripts); i++) {
		check(format("%s: an option that it does not have", scripts[i]), NULL,
		      scripts[i], ARGS("--nonsense"), 2, "--help", 1);
		run(&c, NULL, scripts[i], ARGS("--help"));
		ktap_ok(!c.code && !*c.err && !strncmp(c.out, "usage: lab/", 11),
			"%s --help", scripts[i]);
		capture_free(&c);
	}
}

static void test_deps(const char *no_qemu)
{
	const char *os = format("PAGERUN_OS_RELEASE=%s/os-release", dir);

	shell(format("echo ID=otherlinux >%s/os-release", dir));
	check("deps: all is there on another distribution", ARGS(os), "deps", NULL, 0, "", 0);
	check("deps: QEMU is missing on another distribution", ARGS(os, no_qemu), "deps",
	      NULL, 1, "deps: install by hand: qemu-system-x86_64", 3);
}

static void test_source(void)
{
	const char *sham = format("KSRC=%s/sham", dir);
	const char *folder, *again;
	struct captured c;

	check("source: KSRC leads nowhere", ARGS("KSRC=/nowhere"), "source", NULL, 1,
	      "KSRC=/nowhere: no such folder; name a kernel source tree", 1);
	check("source: KSRC is no kernel", ARGS("KSRC=/usr/bin"), "source", NULL, 1,
	      "is not a kernel source tree", 1);
	shell(format("mkdir %s/old; printf 'VERSION = 6\\nPATCHLEVEL = 1\\nSUBLEVEL = 9\\n' >%s/old/Makefile",
		     dir, dir));
	check("source: KSRC is another version", ARGS(format("KSRC=%s/old", dir)), "source",
	      NULL, 1, "is Linux 6.1.9: the hooks are for 6.12", 1);
	shell(format("cp -r %s/sham %s/built; touch %s/built/.config", dir, dir, dir));
	check("source: KSRC has been built in", ARGS(format("KSRC=%s/built", dir)), "source",
	      NULL, 1, "run 'make mrproper' there", 1);
	check("source: KSRC and --version", ARGS(sham), "source", ARGS("--version", "6.12.1-1"), 2,
	      "exclude each other", 1);
	check("source: --version without one", NULL, "source", ARGS("--version"), 2,
	      "--version needs a value", 1);
	check("source: no disk room", ARGS(sham, "PAGERUN_ROOM_MIB=999999999"), "source", NULL, 1,
	      "needs 999999999 MiB", 1);
	check("source: a cache that cannot be made", ARGS(sham, "XDG_CACHE_HOME=/proc/none"),
	      "source", NULL, 1, "set XDG_CACHE_HOME to a folder that you may write", 2);
	if (!access("/usr/bin/apt-cache", X_OK))
		check("source: a version that apt does not have", NULL, "source",
		      ARGS("--version", "6.12.0-0"), 1, "apt does not know linux-source-6.12 6.12.0-0", 1);
	else
		ktap_skip("source: a version that apt does not have: no apt here; run it on Debian");

	run(&c, ARGS(sham), "source", NULL);
	folder = first_line(&c);
	ktap_ok(!c.code && !access(format("%s/tree/Makefile", folder), R_OK), "source: takes KSRC");
	capture_free(&c);
	run(&c, ARGS(sham), "source", NULL);
	again = first_line(&c);
	ktap_ok(!c.code && !*c.err && !strcmp(folder, again), "source: knows KSRC again, silently");
	capture_free(&c);

	shell(format("truncate -s 20 %s/package.json", folder));
	check("source: a package.json that is cut short is noticed", ARGS(sham), "source", NULL, 0,
	      "is damaged; gets it anew", 2);
	shell(format("rm %s/tree/Kbuild", folder));
	check("source: a tree that lacks a file is noticed", ARGS(sham), "source", NULL, 0,
	      "is damaged; gets it anew", 2);
	shell(format("echo >>%s/tree/Kbuild", folder));
	check("source: a file of the tree that was changed is noticed", ARGS(sham), "source", NULL, 0,
	      "is damaged; gets it anew", 2);
	check("source: and is whole after that", ARGS(sham), "source", NULL, 0, "", 0);
	/* What a run that was killed leaves behind. */
	shell(format("rm -rf %s; d=%s/cache/pagerun/source/.new-$(basename %s); mkdir -p $d/tree; touch $d/tree/half",
		     folder, dir, folder));
	run(&c, ARGS(sham), "source", NULL);
	ktap_ok(!c.code && access(format("%s/tree/half", folder), F_OK) &&
		!access(format("%s/tree/Kbuild", folder), F_OK),
		"source: half of a source from a killed run is not taken");
	capture_free(&c);
}

static void test_kernel(void)
{
	const char *sham = format("KSRC=%s/sham", dir);
	const char *folder;
	struct captured c;

	check("kernel: neither base nor patched", NULL, "kernel", NULL, 2, "say base or patched", 1);
	check("kernel: a mode that is not there", NULL, "kernel", ARGS("base", "--mode", "none"), 2,
	      "there is no mode none", 1);
	check("kernel: no source", ARGS("KSRC=/nowhere"), "kernel", ARGS("base"), 1,
	      "KSRC=/nowhere: no such folder", 1);
	shell(format("mkdir '%s/a blank'", dir));
	check("kernel: a cache with a blank in its path",
	      ARGS(sham, format("XDG_CACHE_HOME=%s/a blank", dir)), "kernel", ARGS("base"), 1,
	      "neither space nor colon", 2);

	run(&c, ARGS(sham), "kernel", ARGS("base"));
	folder = first_line(&c);
	ktap_ok(!c.code && !access(format("%s/bzImage", folder), R_OK), "kernel: builds");
	capture_free(&c);
	check("kernel: does not build twice", ARGS(sham), "kernel", ARGS("base"), 0, "", 0);
	shell(format("echo x >>%s/bzImage", folder));
	check("kernel: a bzImage that is not that of kernel.json is noticed", ARGS(sham), "kernel",
	      ARGS("base"), 0, "is damaged; builds it anew", 3);
	shell(format("truncate -s 30 %s/kernel.json", folder));
	check("kernel: a kernel.json that is cut short is noticed", ARGS(sham), "kernel",
	      ARGS("base"), 0, "is damaged; builds it anew", 3);
	check("kernel: and is whole after that", ARGS(sham), "kernel", ARGS("base"), 0, "", 0);
	run(&c, ARGS(sham), "kernel", ARGS("base", "--mode", "debug"));
	shell(format("grep -qx CONFIG_PROVE_LOCKING=y %s/config && grep -qx CONFIG_SECRETMEM=y %s/config || touch %s/not-on-top",
		     first_line(&c), first_line(&c), dir));
	ktap_ok(!c.code && access(format("%s/not-on-top", dir), F_OK),
		"kernel: the debug configuration is on top of that which is measured");
	capture_free(&c);

	check("kernel: a hook that does not fit", ARGS(sham), "kernel", ARGS("patched"), 1,
	      "0000-pagerun.patch does not apply: ", 2);
	check("hooks-check: a hook that does not fit", ARGS(sham), "hooks-check", NULL, 1, "", 0);
	check("series: a hook that does not fit", ARGS(sham), "series", ARGS("--out", dir), 1,
	      "", 3);

	shell(format("echo CONFIG_SECRETMEM=y >%s/sham/lost", dir));
	check("kernel: a symbol that does not survive", ARGS(sham), "kernel", ARGS("base"), 1,
	      "CONFIG_SECRETMEM=y", 4);
	shell(format("printf 'bzImage:\\n\\techo mm/gup.c:1: error: sham; false\\n' >>%s/sham/Makefile; : >%s/sham/lost",
		     dir, dir));
	check("kernel: a build that fails", ARGS(sham), "kernel", ARGS("base"), 1,
	      "mm/gup.c:1: error: sham", 8);
}

static void test_boot_usage(const char *no_qemu)
{
	const char *out = format("%s/out", dir);

	check("boot: no image", NULL, "boot", ARGS("--mode", "wall", "--out", out, "--", "x"), 2,
	      "--image is missing", 1);
	check("boot: nothing to run", NULL, "boot",
	      ARGS("--image", image, "--mode", "wall", "--out", out), 2, "nothing to run", 1);
	check("boot: a mode that is not there", NULL, "boot",
	      ARGS("--image", image, "--mode", "fast", "--out", out, "--", "x"), 2, "insn or wall", 1);
	check("boot: a time-out that is no number", NULL, "boot",
	      ARGS("--image", image, "--mode", "wall", "--timeout", "soon", "--out", out, "--", "x"),
	      2, "'soon'", 1);
	check("boot: a CPU model by the insn clock", NULL, "boot",
	      ARGS("--image", image, "--mode", "insn", "--cpu", "Haswell", "--out", out, "--", "x"),
	      2, "--cpu is for --mode wall", 1);
	check("boot: an argument with a blank", NULL, "boot",
	      ARGS("--image", image, "--mode", "wall", "--out", out, "--", "a b"), 2, "'a b'", 1);
	check("boot: an image that is not there", NULL, "boot",
	      ARGS("--image", "/nowhere", "--mode", "wall", "--out", out, "--", "x"), 1,
	      "there is no kernel image in /nowhere", 1);
	shell(format("mkdir %s/bad; cp %s/kernel.json %s/bad; echo x >%s/bad/bzImage", dir, image,
		     dir, dir));
	check("boot: an image that is damaged", NULL, "boot",
	      ARGS("--image", format("%s/bad", dir), "--mode", "wall", "--out", out, "--", "x"), 1,
	      "is damaged", 1);
	check("boot: no program for init", ARGS("PAGERUN_INIT=/nowhere"), "boot",
	      ARGS("--image", image, "--mode", "wall", "--out", out, "--", "x"), 1,
	      "make -C tool makes it", 1);
	check("boot: a file for the guest that is not there", NULL, "boot",
	      ARGS("--image", image, "--mode", "wall", "--add", "/nowhere:/x", "--out", out, "--", "x"),
	      1, "there is no file /nowhere", 1);
	check("boot: QEMU is missing", ARGS(no_qemu), "boot",
	      ARGS("--image", image, "--mode", "wall", "--out", out, "--", "x"), 1,
	      "qemu-system-x86_64 is not installed; lab/deps installs it", 1);
	check("driver: an image that is not there", NULL, "driver", ARGS("/nowhere"), 1,
	      "there is no kernel build in /nowhere", 1);
	check("wall: one image alone", NULL, "wall", ARGS(image), 2, "say which two image folders", 1);
	check("compare: no source", ARGS("KSRC=/nowhere"), "compare", NULL, 1,
	      "KSRC=/nowhere: no such folder", 1);
}

/*
 * A sham source with three selftests: one that builds, one that lacks a library,
 * one that is broken.
 */
static const char *make_sham_selftests(void)
{
	shell(format("d=%s/selftests; cp -r %s/sham $d; rm -rf $d/.config; cd $d\n"
		     "t=tools/testing/selftests; mkdir -p $t/mm $t/x86 tools/include/uapi lib\n"
		     "touch $t/kselftest.h $t/kselftest_harness.h $t/lib.mk mm/gup_test.h lib/test_hmm_uapi.h\n"
		     "cat >>Makefile <<'END'\n"
		     "headers_install:\n"
		     "\tmkdir -p $(INSTALL_HDR_PATH)/include\n"
		     "END\n"
		     "cat >$t/mm/Makefile <<'END'\n"
		     "TEST_GEN_FILES = one two three\n"
		     "$(OUTPUT)/one:\n"
		     "\tcp /bin/true $@\n"
		     "$(OUTPUT)/two:\n"
		     "\techo 'two.c:1:10: fatal error: numa.h: No such file or directory'; false\n"
		     "$(OUTPUT)/three:\n"
		     "\techo 'three.c:1: error: sham'; false\n"
		     "END\n", dir, dir));
	return format("KSRC=%s/selftests", dir);
}

static void test_selftest(const char *no_qemu)
{
	const char *sham = format("KSRC=%s/sham", dir), *source;

	check("selftest: no kernel", NULL, "selftest", NULL, 2, "say base or patched", 1);
	check("selftest: a kernel that is not there", NULL, "selftest", ARGS("mended", "cow"), 2,
	      "unknown variant mended", 1);
	check("selftest: no program", NULL, "selftest", ARGS("base"), 2,
	      "lab/selftest --list shows what there is", 1);
	check("selftest: an argument with a blank", NULL, "selftest", ARGS(image, "cow", "a b"), 2,
	      "'a b'", 1);
	check("selftest: runs from a file that is not there", NULL, "selftest",
	      ARGS("--each", "/nowhere", image, "cow"), 2, "there is no file /nowhere", 1);
	check("selftest: a file to show that is no path", NULL, "selftest",
	      ARGS("--show", "stats", image, "cow"), 2, "'stats'", 1);
	check("selftest: CPUs by the insn clock", NULL, "selftest",
	      ARGS("--mode", "insn", "--smp", "2", image, "cow"), 2, "insn has one CPU", 1);
	check("selftest: a source without selftests", ARGS(sham), "selftest", ARGS("--list"), 1,
	      "has no mm selftests", 2);
	source = make_sham_selftests();
	check("selftest: a program that is not there", ARGS(source), "selftest",
	      ARGS(image, "no_such"), 2,
	      "there is no selftest no_such; lab/selftest --list shows what there is", 2);
	check("selftest: a program that lacks a library", ARGS(source), "selftest",
	      ARGS(image, "two"), 1,
	      "two needs libnuma, which is not installed: apt-get install libnuma-dev", 2);
	check("selftest: a program that does not build", ARGS(source), "selftest",
	      ARGS(image, "three"), 1, "three of this kernel source does not build", 2);
	check("selftest: QEMU is missing", ARGS(source, no_qemu), "selftest", ARGS(image, "one"), 1,
	      "qemu-system-x86_64 is not installed; lab/deps installs it", 1);
}

/* Guests that end badly. What is said is at most 20 lines of console and one. */
static const struct {
	const char *how, *timeout;
	int code;
	const char *text;
} guests[] = {
	{ "code", "50", 7, "" },
	{ "warning", "50", 1, "the guest's kernel log has lines that must not be there" },
	{ "bug", "50", 1, "the guest's kernel log has lines that must not be there" },
	{ "lockdep", "50", 1, "the guest's kernel log has lines that must not be there" },
	{ "signal", "50", 1, "was ended by signal 11" },
	{ "vanish", "50", 1, "ended without an answer" },
	{ "hang", "12", 1, "hung: no end within 12 s" },
};

static void test_guests(void)
{
	const char *add = format("%s/../out/tests/guest/misbehave:/tests/misbehave", lab);
	const char *out = format("%s/out", dir);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(guests); i++)
		check(format("guest: %s", guests[i].how), NULL, "boot",
		      ARGS("--image", image, "--mode", "wall", "--add", add, "--timeout",
			   guests[i].timeout, "--out", out, "--", "/tests/misbehave", guests[i].how),
		      guests[i].code, guests[i].text, 21);
	check("guest: a kernel that panics", NULL, "boot",
	      ARGS("--image", image, "--mode", "wall", "--append", "rdinit=/none", "--timeout",
		   "50", "--out", out, "--", "x"), 1,
	      "the guest kernel panicked: Kernel panic - not syncing", 21);
}

/* Rows that are kept: used again when whole, measured anew when not. */
static void test_rows(void)
{
	const char *rows, *sum = format("%s/sum", dir);
	struct captured c;

	run(&c, NULL, "bench", ARGS(image, "--case", "pin/*"));
	rows = first_line(&c);
	if (!ktap_ok(!c.code && !access(rows, R_OK), "bench: measures"))
		ktap_diag("%s", c.err);
	capture_free(&c);
	check("bench: does not measure twice", NULL, "bench", ARGS(image, "--case", "pin/*"), 0, "", 0);
	shell(format("if [ -f '%s' ]; then sha256sum '%s' >%s; truncate -s 400 '%s'; fi", rows, rows,
		     sum, rows));
	check("bench: rows that are cut short are noticed", NULL, "bench",
	      ARGS(image, "--case", "pin/*"), 0, "is damaged; measures anew", 1);
	capture_as(0, ARGS("/usr/bin/sha256sum", "-c", sum), &c);
	ktap_ok(!c.code, "bench: and the new ones are the old ones to the byte");
	capture_free(&c);
}

int main(int argc, char **argv)
{
	const char *no_qemu;

	if (argc != 3)
		errx(2, "usage: %s PATH-TO-LAB IMAGEDIR", argv[0]);
	if (!realpath(argv[1], lab))
		err(2, "%s", argv[1]);
	if (!realpath(argv[2], image))
		err(2, "%s: lab/kernel prints what to give here", argv[2]);
	if (!mkdtemp(dir))
		err(2, "%s", dir);
	ktap_plan(2 * ARRAY_SIZE(scripts) + 2 + 17 + 14 + 14 + 12 + ARRAY_SIZE(guests) + 1 + 4);
	no_qemu = path_without_qemu();
	make_sham();
	test_usage();
	test_deps(no_qemu);
	test_source();
	test_kernel();
	test_boot_usage(no_qemu);
	test_selftest(no_qemu);
	test_guests();
	test_rows();
	shell(format("rm -rf %s", dir));
	while (nr_texts)
		free(texts[--nr_texts]);
	return ktap_done();
}
