// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * /dev/ackclock of a kernel that laws of ours are a part of.
 *
 * Read, it names the laws, one a line. A line that is written into it registers one, until the file is closed:
 *
 *   LAW NAME [s NUMBER ...] [p NUMBER ...]
 *
 * with the numbers of its word and of its parts, in the order of their structures (ccp.bpf.c, idle.h). Reading gives the
 * records of its connections from then on (record.h), and nothing where there are none.
 *
 * One processor and no preemption are taken for granted, which User-Mode Linux has: a hook is disturbed by hooks of other
 * connections alone, each of which ends before it goes on.
 */
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/miscdevice.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "record.h"

/* Eight megabytes: a minute at 1000 ACKs a second. */
#define ROOM ((8 << 20) / sizeof(struct record))
#define NUMBERS 6

struct registered {
	struct tcp_congestion_ops ops;
	struct built_in *law;
	u32 settings[NUMBERS];
	u32 parts[NUMBERS];
	/* A ring: `first` is the next that is read. */
	struct record *records;
	u32 first;
	u32 count;
};

static struct built_in *laws;
/* The registration whose hook is at work. */
static struct registered *here;

void ack_offer(struct built_in *law)
{
	law->next = laws;
	laws = law;
}

static void swap_numbers(const struct place *place, u32 *numbers)
{
	u32 kept[NUMBERS];

	if (!place->at)
		return;
	memcpy(kept, place->at, place->size);
	memcpy(place->at, numbers, place->size);
	memcpy(numbers, kept, place->size);
}

/* Calls a hook of a law with the numbers of its registration; what was there before comes back. */
static int call(struct sock *sk, int (*hook)(u64 *ctx), u64 *ctx)
{
	const struct tcp_congestion_ops *ops = inet_csk(sk)->icsk_ca_ops;
	struct registered *mine = container_of((struct tcp_congestion_ops *)ops, struct registered, ops);
	struct registered *before = here;
	int answer;

	here = mine;
	swap_numbers(mine->law->settings, mine->settings);
	swap_numbers(mine->law->parts, mine->parts);
	answer = hook(ctx);
	swap_numbers(mine->law->parts, mine->parts);
	swap_numbers(mine->law->settings, mine->settings);
	here = before;
	return answer;
}

#define LAW_OF(sk) \
	container_of((struct tcp_congestion_ops *)inet_csk(sk)->icsk_ca_ops, struct registered, ops)->law

static void init(struct sock *sk)
{
	u64 ctx[] = { (u64)sk };

	call(sk, LAW_OF(sk)->init, ctx);
}

static void release(struct sock *sk)
{
	void **kept = inet_csk_ca(sk);

	kfree(*kept);
	*kept = NULL;
}

static u32 ssthresh(struct sock *sk)
{
	u64 ctx[] = { (u64)sk };

	return call(sk, LAW_OF(sk)->ssthresh, ctx);
}

static void set_state(struct sock *sk, u8 to)
{
	u64 ctx[] = { (u64)sk, to };

	call(sk, LAW_OF(sk)->set_state, ctx);
}

static void event(struct sock *sk, enum tcp_ca_event what)
{
	u64 ctx[] = { (u64)sk, what };

	if (LAW_OF(sk)->event)
		call(sk, LAW_OF(sk)->event, ctx);
}

#ifdef TX_START_APART
static void tx_start(struct sock *sk)
{
	event(sk, CA_EVENT_TX_START);
}
#endif

static u32 undo(struct sock *sk)
{
	u64 ctx[] = { (u64)sk };

	return call(sk, LAW_OF(sk)->undo, ctx);
}

static void control(struct sock *sk, u32 ack, int flag, const struct rate_sample *sample)
{
	u64 ctx[] = { (u64)sk, ack, flag, (u64)sample };

	call(sk, LAW_OF(sk)->control, ctx);
}

static const struct tcp_congestion_ops hooks = {
	.init = init,
	.release = release,
	.ssthresh = ssthresh,
	.set_state = set_state,
	.cwnd_event = event,
#ifdef TX_START_APART
	.cwnd_event_tx_start = tx_start,
#endif
	.undo_cwnd = undo,
	.cong_control = control,
};

/* The state of a connection, of which the socket has room for the pointer; null if there is none. */
void *ack_state(struct sock *sk, u32 size, bool create)
{
	void **kept = inet_csk_ca(sk);

	if (!*kept && create)
		*kept = kzalloc(size, GFP_ATOMIC);
	return *kept;
}

/* Room for a record; null where there is none. */
void *ack_reserve(u32 size)
{
	if (!here || !here->records || here->count == ROOM)
		return NULL;
	return &here->records[(here->first + here->count) % ROOM];
}

void ack_submit(void)
{
	here->count++;
}

static int numbers(char **words, u32 *into)
{
	int n = 0;
	char *word;

	while (*words && **words >= '0' && **words <= '9') {
		word = strsep(words, " ");
		if (n == NUMBERS || kstrtou32(word, 10, &into[n++]))
			return -EINVAL;
	}
	return 0;
}

static struct registered *read_line(char *line)
{
	struct registered *new;
	char *law = strsep(&line, " "), *name = strsep(&line, " "), *kind;
	struct built_in *found = laws;
	int wrong = 0;

	while (found && strcmp(found->name, law))
		found = found->next;
	if (!found)
		return ERR_PTR(-ENOENT);
	if (!name || !*name || strlen(name) >= TCP_CA_NAME_MAX)
		return ERR_PTR(-EINVAL);
	new = kzalloc(sizeof(*new), GFP_KERNEL);
	if (!new)
		return ERR_PTR(-ENOMEM);
	new->law = found;
	new->ops = hooks;
	strscpy(new->ops.name, name, sizeof(new->ops.name));
	if (found->settings->at)
		memcpy(new->settings, found->settings->at, found->settings->size);
	if (found->parts->at)
		memcpy(new->parts, found->parts->at, found->parts->size);
	while (!wrong && (kind = strsep(&line, " "))) {
		if (!strcmp(kind, "s") && found->settings->at)
			wrong = numbers(&line, new->settings);
		else if (!strcmp(kind, "p") && found->parts->at)
			wrong = numbers(&line, new->parts);
		else
			wrong = -EINVAL;
	}
	new->records = wrong ? NULL : vzalloc(ROOM * sizeof(struct record));
	if (!wrong && !new->records)
		wrong = -ENOMEM;
	if (!wrong)
		wrong = tcp_register_congestion_control(&new->ops);
	if (wrong) {
		vfree(new->records);
		kfree(new);
		return ERR_PTR(wrong);
	}
	return new;
}

/* A file has the device for its data at first. */
static int device_open(struct inode *inode, struct file *file)
{
	file->private_data = NULL;
	return 0;
}

static ssize_t device_write(struct file *file, const char __user *from, size_t size, loff_t *at)
{
	struct registered *new;
	char *line;

	if (file->private_data || size > 256)
		return -EINVAL;
	line = memdup_user_nul(from, size);
	if (IS_ERR(line))
		return PTR_ERR(line);
	new = read_line(strim(line));
	kfree(line);
	if (IS_ERR(new))
		return PTR_ERR(new);
	file->private_data = new;
	return size;
}

static ssize_t device_read(struct file *file, char __user *to, size_t size, loff_t *at)
{
	struct registered *mine = file->private_data;
	struct built_in *law;
	char names[512];
	int length = 0;
	size_t given = 0;

	if (!mine) {
		for (law = laws; law; law = law->next)
			length += scnprintf(names + length, sizeof(names) - length, "%s\n", law->name);
		return simple_read_from_buffer(to, size, at, names, length);
	}
	while (mine->count && size - given >= sizeof(struct record)) {
		if (copy_to_user(to + given, &mine->records[mine->first], sizeof(struct record)))
			return -EFAULT;
		mine->first = (mine->first + 1) % ROOM;
		mine->count--;
		given += sizeof(struct record);
	}
	return given;
}

static int device_release(struct inode *inode, struct file *file)
{
	struct registered *mine = file->private_data;

	if (!mine)
		return 0;
	/* Connections may still send by it, so that the rest of it stays. */
	tcp_unregister_congestion_control(&mine->ops);
	vfree(mine->records);
	mine->records = NULL;
	return 0;
}

static const struct file_operations operations = {
	.open = device_open,
	.read = device_read,
	.write = device_write,
	.release = device_release,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "ackclock",
	.fops = &operations,
	.mode = 0600,
};

static int __init begin(void)
{
	return misc_register(&device);
}
device_initcall(begin);
