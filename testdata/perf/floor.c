// floor does what settle does with the least that the system asks for: no
// manifest, no journal, no report. .bench builds it and measures settle, a
// bare Go loop and other tools beside it. It also holds the commands that they
// are made to run, and the launcher that measures them all.
//
//   floor measure OUT CMD..      run CMD; write wall and CPU (ns), peak RSS (KiB) and exit code to OUT
//   floor stat MANIFEST PREFIX N read a file, then lstat PREFIX0 to PREFIX(N-1)
//   floor spawn N P CMD..        N times posix_spawn and wait, in P threads
//   floor journal FILE N CMD..   the same in turn, each with a synced line before and a line after
//   floor lines CMD..            run CMD, copy its output line by line with a word in front
//   floor exchange FILE N CMD..  N times two pipes, posix_spawn, write a request, read the reply, wait;
//                                with a line before and after as above, unless FILE is -
//   floor true | floor spew MB | floor answer REPLY
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static void die(const char *what) {
	perror(what);
	exit(1);
}

static void check(int error, const char *what) {
	if (error) {
		errno = error;
		die(what);
	}
}

static long long nanoseconds(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static long long of(struct timeval t) { return t.tv_sec * 1000000000LL + t.tv_usec * 1000LL; }

// put writes all of it.
static void put(int fd, const char *p, size_t n) {
	while (n > 0) {
		ssize_t k = write(fd, p, n);
		if (k < 0) die("write");
		p += k;
		n -= k;
	}
}

// start starts a command; in and out replace its standard streams where they are no -1.
static pid_t start(char **argv, int in, int out) {
	posix_spawn_file_actions_t files, *use = NULL;
	pid_t pid;
	if (in >= 0 || out >= 0) {
		use = &files;
		posix_spawn_file_actions_init(use);
		if (in >= 0) posix_spawn_file_actions_adddup2(use, in, 0);
		if (out >= 0) posix_spawn_file_actions_adddup2(use, out, 1);
	}
	check(posix_spawn(&pid, argv[0], use, NULL, argv, environ), argv[0]);
	if (use) posix_spawn_file_actions_destroy(use);
	return pid;
}

// end waits for a command, which has to succeed.
static void end(pid_t pid) {
	int status;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR) die("waitpid");
	if (status != 0) {
		fprintf(stderr, "a command ended with status %x\n", status);
		exit(1);
	}
}

static int measure(const char *out, char **argv) {
	struct rusage use;
	int status;
	long long began = nanoseconds();
	pid_t pid = start(argv, -1, -1);
	while (wait4(pid, &status, 0, &use) < 0)
		if (errno != EINTR) die("wait4");
	long long wall = nanoseconds() - began;
	FILE *f = fopen(out, "w");
	if (!f) die(out);
	fprintf(f, "%lld %lld %ld %d\n", wall, of(use.ru_utime) + of(use.ru_stime), use.ru_maxrss,
		WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return fclose(f) != 0;
}

static int stat_all(const char *manifest, const char *prefix, int n) {
	static char buffer[1 << 16];
	char path[4096];
	struct stat st;
	int fd = open(manifest, O_RDONLY);
	if (fd < 0) die(manifest);
	while (read(fd, buffer, sizeof buffer) > 0) {}
	close(fd);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof path, "%s%d", prefix, i);
		if (lstat(path, &st)) die(path);
	}
	return 0;
}

struct share {
	int n;
	char **argv;
};

static void *spawn_share(void *arg) {
	struct share *s = arg;
	for (int i = 0; i < s->n; i++) end(start(s->argv, -1, -1));
	return NULL;
}

static int spawn_all(int n, int p, char **argv) {
	pthread_t threads[256];
	struct share shares[256];
	if (p < 1 || p > 256) return 2;
	for (int i = 0; i < p; i++) {
		shares[i] = (struct share){n / p + (i < n % p), argv};
		if (i > 0) check(pthread_create(&threads[i], NULL, spawn_share, &shares[i]), "pthread_create");
	}
	spawn_share(&shares[0]);
	for (int i = 1; i < p; i++) check(pthread_join(threads[i], NULL), "pthread_join");
	return 0;
}

static int journal = -1; // the file of lines, -1 for none

static void open_journal(const char *file) {
	if (!strcmp(file, "-")) return;
	journal = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (journal < 0) die(file);
}

static void note(int sync) {
	static const char line[] = "0123abcd {\"kind\":\"begin\",\"run\":\"20260102T030405Z-abcdef\",\"id\":\"exec#r0\"}\n";
	if (journal < 0) return;
	put(journal, line, sizeof line - 1);
	if (sync && fsync(journal)) die("fsync");
}

static int journal_all(int n, char **argv) {
	for (int i = 0; i < n; i++) {
		note(1);
		end(start(argv, -1, -1));
		note(i == n - 1);
	}
	return 0;
}

static int lines(char **argv) {
	static char in[1 << 16], out[1 << 18];
	static const char word[] = "exec#noisy | ";
	int pipe[2], fresh = 1;
	if (pipe2(pipe, O_CLOEXEC)) die("pipe");
	pid_t pid = start(argv, -1, pipe[1]);
	close(pipe[1]);
	for (ssize_t k; (k = read(pipe[0], in, sizeof in)) > 0;) {
		size_t n = 0;
		for (char *p = in, *stop = in + k; p < stop;) {
			char *newline = memchr(p, '\n', stop - p);
			size_t length = (newline ? newline + 1 : stop) - p;
			if (n + length + sizeof word > sizeof out) {
				put(1, out, n);
				n = 0;
			}
			if (fresh) {
				memcpy(out + n, word, sizeof word - 1);
				n += sizeof word - 1;
			}
			memcpy(out + n, p, length);
			n += length;
			p += length;
			fresh = newline != NULL;
		}
		put(1, out, n);
	}
	end(pid);
	return 0;
}

static int exchange_all(int n, char **argv) {
	static const char request[] = "{\"protocol\":\"settle.helper/v1\",\"name\":\"server\"}\n";
	static char reply[1 << 16];
	for (int i = 0; i < n; i++) {
		int in[2], out[2];
		ssize_t got = 0, k;
		note(1);
		if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)) die("pipe");
		pid_t pid = start(argv, in[0], out[1]);
		close(in[0]);
		close(out[1]);
		put(in[1], request, sizeof request - 1);
		close(in[1]);
		while ((k = read(out[0], reply, sizeof reply)) > 0) got += k;
		close(out[0]);
		end(pid);
		note(i == n - 1);
		if (got == 0) return 1;
	}
	return 0;
}

static int spew(long megabytes) {
	static char block[64000];
	for (size_t i = 0; i < sizeof block; i++) block[i] = i % 100 == 99 ? '\n' : 'a' + i % 26;
	for (long long left = megabytes * 1000000LL; left > 0;) {
		size_t n = left < (long long)sizeof block ? (size_t)left : sizeof block;
		put(1, block, n);
		left -= n;
	}
	return 0;
}

static int answer(const char *reply) {
	static char request[1 << 16];
	while (read(0, request, sizeof request) > 0) {}
	put(1, reply, strlen(reply));
	return 0;
}

int main(int argc, char **argv) {
	const char *what = argc > 1 ? argv[1] : "";
	if (!strcmp(what, "true")) return 0;
	if (!strcmp(what, "measure") && argc > 3) return measure(argv[2], argv + 3);
	if (!strcmp(what, "stat") && argc == 5) return stat_all(argv[2], argv[3], atoi(argv[4]));
	if (!strcmp(what, "spawn") && argc > 4) return spawn_all(atoi(argv[2]), atoi(argv[3]), argv + 4);
	if ((!strcmp(what, "journal") || !strcmp(what, "exchange")) && argc > 4) {
		open_journal(argv[2]);
		return what[0] == 'j' ? journal_all(atoi(argv[3]), argv + 4) : exchange_all(atoi(argv[3]), argv + 4);
	}
	if (!strcmp(what, "lines") && argc > 2) return lines(argv + 2);
	if (!strcmp(what, "spew") && argc == 3) return spew(atol(argv[2]));
	if (!strcmp(what, "answer") && argc == 3) return answer(argv[2]);
	fputs("usage: see the head of floor.c\n", stderr);
	return 2;
}
