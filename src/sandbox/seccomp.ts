/**
 * A filter of system calls for the jail's process, as Linux takes it (classic BPF): what would reach another process, another namespace, the network
 * or the kernel's rarely used doors is refused; all else, which Node needs, is left to the walls around it. For x86-64 alone, whose numbers these are.
 */

/** System calls of x86-64 by number. */
const REFUSED = {
  // Other programs: no process may be begun, ended, watched or written to.
  fork: 57,
  vfork: 58,
  execveat: 322,
  kill: 62,
  tkill: 200,
  rt_sigqueueinfo: 129,
  rt_tgsigqueueinfo: 297,
  pidfd_open: 434,
  pidfd_send_signal: 424,
  pidfd_getfd: 438,
  ptrace: 101,
  process_vm_readv: 310,
  process_vm_writev: 311,
  process_madvise: 440,
  kcmp: 312,
  // Sockets of all kinds.
  socket: 41,
  connect: 42,
  accept: 43,
  bind: 49,
  listen: 50,
  socketpair: 53,
  accept4: 288,
  // Namespaces and mounts.
  unshare: 272,
  setns: 308,
  mount: 165,
  umount2: 166,
  pivot_root: 155,
  chroot: 161,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  mount_setattr: 442,
  name_to_handle_at: 303,
  open_by_handle_at: 304,
  // The kernel's own.
  add_key: 248,
  request_key: 249,
  keyctl: 250,
  bpf: 321,
  perf_event_open: 298,
  userfaultfd: 323,
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  init_module: 175,
  finit_module: 313,
  delete_module: 176,
  kexec_load: 246,
  kexec_file_load: 320,
  reboot: 169,
  swapon: 167,
  swapoff: 168,
  syslog: 103,
  acct: 163,
  quotactl: 179,
  personality: 135,
} as const;

const CLONE = 56;
const CLONE3 = 435;
/** Of `clone`: what is begun is a thread of the same program. */
const CLONE_THREAD = 0x10000;
const X86_64 = 0xc000003e;
/** The calls of another ABI start at this number. */
const X32 = 0x40000000;
/** The offsets of the number, the architecture and the first argument in the filter's input. */
const AT = { number: 0, architecture: 4, argument: 16 } as const;
const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;

type Step = readonly [code: number, yes: number, no: number, value: number];
const loadWord = (at: number): Step => [0x20, 0, 0, at];
const give = (value: number): Step => [0x06, 0, 0, value];
/** Goes on behind the next step unless the value is this one. */
const unless = (value: number): Step => [0x15, 0, 1, value];

/** The filter's bytes. */
export function seccompFilter(): Buffer {
  const steps: Step[] = [
    loadWord(AT.architecture),
    [0x15, 1, 0, X86_64],
    give(KILL),
    loadWord(AT.number),
    [0x35, 0, 1, X32],
    give(KILL),
    // The library falls back on `clone`, whose flags can be read.
    unless(CLONE3),
    give(ENOSYS),
    ...Object.values(REFUSED).flatMap((number) => [unless(number), give(EPERM)]),
    [0x15, 0, 3, CLONE],
    loadWord(AT.argument),
    [0x45, 1, 0, CLONE_THREAD],
    give(EPERM),
    give(ALLOW),
  ];
  const bytes = Buffer.alloc(steps.length * 8);
  for (const [i, [code, yes, no, value]] of steps.entries()) {
    bytes.writeUInt16LE(code, i * 8);
    bytes.writeUInt8(yes, i * 8 + 2);
    bytes.writeUInt8(no, i * 8 + 3);
    bytes.writeUInt32LE(value, i * 8 + 4);
  }
  return bytes;
}
