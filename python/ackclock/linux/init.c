/*
 * The first process of a guest: mounts, devices, then one program, whose end is the guest's.
 *
 * The kernel is started in the folder of the run, which its /proc/self/cwd names: so the kernel's command line, of
 * which the guest's random numbers are made, names no folder. The folder is /run/ackclock in the guest, and has
 *
 *   job     strings that end with a zero, each with a letter before it: c the folder of the program, e a variable, a an
 *           argument, l the most seconds of the guest's clock, 6 if IPv6 stays;
 *   beat    the guest's clock in nanoseconds, each tenth of a second: a guest that computes for ever leaves it;
 *   stdout, stderr   what the program writes;
 *   status  "exit N", "signal N", "late", or "init WHAT: WHY".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST 4096

static char job[1 << 20];
static char *arguments[MOST + 1], *variables[MOST + 1];
static const char *folder = "/";
static long limit_s = 3600;
static int keeps_ipv6;

static void end(const char *text)
{
	int fd = open("status", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd >= 0) {
		if (write(fd, text, strlen(text)) < 0)
			perror("status");
		close(fd);
	}
	sync();
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static void fail(const char *what)
{
	char text[256];
	snprintf(text, sizeof text, "init %s: %s", what, strerror(errno));
	end(text);
}

static void place(const char *kind, const char *where, const char *data)
{
	if (mount(kind, where, kind, 0, data) && errno != EBUSY)
		fail(where);
}

static void put(const char *where, const char *text)
{
	int fd = open(where, O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		if (write(fd, text, strlen(text)) < 0)
			perror(where);
		close(fd);
	}
}

static void read_job(void)
{
	int fd = open("job", O_RDONLY | O_CLOEXEC);
	ssize_t got, had = 0;
	int a = 0, v = 0;
	if (fd < 0)
		fail("job");
	while ((got = read(fd, job + had, sizeof job - 1 - had)) > 0)
		had += got;
	close(fd);
	for (char *at = job; at < job + had; at += strlen(at) + 1) {
		if (*at == 'a' && a < MOST)
			arguments[a++] = at + 1;
		else if (*at == 'e' && v < MOST)
			variables[v++] = at + 1;
		else if (*at == 'c')
			folder = at + 1;
		else if (*at == 'l')
			limit_s = atol(at + 1);
		else if (*at == '6')
			keeps_ipv6 = 1;
	}
	if (!a) {
		errno = EINVAL;
		fail("job");
	}
}

static void machine(void)
{
	struct ifreq lo = { .ifr_name = "lo" };
	int fd;

	place("tmpfs", "/run", "mode=0755");
	if (mkdir("/run/ackclock", 0755) || mount(".", "/run/ackclock", NULL, MS_BIND, NULL))
		fail("/run/ackclock");
	if (chdir("/run/ackclock"))
		fail("/run/ackclock");
	place("proc", "/proc", NULL);
	place("sysfs", "/sys", NULL);
	place("devtmpfs", "/dev", NULL);
	mkdir("/dev/shm", 01777);
	place("tmpfs", "/dev/shm", "mode=1777");
	mkdir("/dev/pts", 0755);
	place("devpts", "/dev/pts", NULL);
	mkdir("/dev/net", 0755);
	mknod("/dev/net/tun", S_IFCHR | 0666, makedev(10, 200));
	chmod("/dev/net/tun", 0666);
	sethostname("ackclock", 8);
	if (!keeps_ipv6) {
		put("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
		put("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
	}
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &lo))
		fail("lo");
	lo.ifr_flags |= IFF_UP;
	if (ioctl(fd, SIOCSIFFLAGS, &lo))
		fail("lo");
	close(fd);
}

static void run(void)
{
	int out = open("stdout", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
	int err = open("stderr", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
	int in = open("/dev/null", O_RDONLY);
	sigset_t none;
	if (in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		_exit(127);
	for (int fd = 3; fd < 32; fd++)
		close(fd);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	if (chdir(folder) == 0) {
		execve(arguments[0], arguments, variables);
		folder = arguments[0];
	}
	fprintf(stderr, "%s: %s\n", folder, strerror(errno));
	_exit(127);
}

int main(void)
{
	const struct timespec tenth = { .tv_nsec = 100000000 };
	struct timespec now, began;
	sigset_t child;
	pid_t program, gone;
	int beat, status;
	char text[64];

	if (chdir("/proc/self/cwd"))
		reboot(RB_POWER_OFF);
	read_job();
	machine();
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	beat = open("beat", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	clock_gettime(CLOCK_MONOTONIC, &began);
	program = fork();
	if (program < 0)
		fail("fork");
	if (!program)
		run();
	for (;;) {
		sigtimedwait(&child, NULL, &tenth);
		clock_gettime(CLOCK_MONOTONIC, &now);
		snprintf(text, sizeof text, "%020lld", now.tv_sec * 1000000000LL + now.tv_nsec);
		if (pwrite(beat, text, strlen(text), 0) < 0)
			fail("beat");
		while ((gone = waitpid(-1, &status, WNOHANG)) > 0) {
			if (gone != program)
				continue;
			if (WIFEXITED(status))
				snprintf(text, sizeof text, "exit %d", WEXITSTATUS(status));
			else
				snprintf(text, sizeof text, "signal %d", WTERMSIG(status));
			end(text);
		}
		if (now.tv_sec - began.tv_sec > limit_s)
			end("late");
	}
}
