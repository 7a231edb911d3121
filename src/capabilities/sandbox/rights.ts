// Landlock's rights by the version of its interface. Source: landlock(7), <linux/landlock.h>.

const EXECUTE = 1n << 0n;
const WRITE_FILE = 1n << 1n;
const READ_FILE = 1n << 2n;
const READ_DIR = 1n << 3n;
const MAKE_CHAR = 1n << 6n;
const MAKE_BLOCK = 1n << 11n;
/** Version 1 knows the rights below this bit. */
const FIRST_RIGHTS = (1n << 13n) - 1n;
const REFER = 1n << 13n;
const TRUNCATE = 1n << 14n;
const IOCTL_DEV = 1n << 15n;
const BIND_AND_CONNECT_TCP = 3n;
const SCOPE_ABSTRACT_SOCKETS = 1n;

const REFER_ABI = 2;
const TRUNCATE_ABI = 3;
const NETWORK_ABI = 4;
const IOCTL_ABI = 5;
const SCOPE_ABI = 6;

/** Allowed everywhere. */
export const READING = EXECUTE | READ_FILE | READ_DIR;

/** All that this kernel can forbid. */
function knownRights(abi: number): bigint {
  let rights = FIRST_RIGHTS;
  if (abi >= REFER_ABI) rights |= REFER;
  if (abi >= TRUNCATE_ABI) rights |= TRUNCATE;
  if (abi >= IOCTL_ABI) rights |= IOCTL_DEV;
  return rights;
}

/** Device nodes are made by nobody: with one, root reads and writes a whole disk. */
export function writingRights(abi: number, { devices }: { devices: boolean }): bigint {
  const rights = knownRights(abi) & ~(MAKE_CHAR | MAKE_BLOCK);
  return devices ? rights : rights & ~IOCTL_DEV;
}

/** A rule for a file may hold these only. */
export function fileRights(rights: bigint): bigint {
  return rights & (EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV);
}

export const canScopeSockets = (abi: number): boolean => abi >= SCOPE_ABI;
export const canDenyTcp = (abi: number): boolean => abi >= NETWORK_ABI;

/** `struct landlock_ruleset_attr`, as long as this kernel knows it. */
export function rulesetAttributes(abi: number, { denyTcp }: { denyTcp: boolean }): Uint8Array {
  const words = [knownRights(abi)];
  if (abi >= NETWORK_ABI) words.push(denyTcp ? BIND_AND_CONNECT_TCP : 0n);
  if (abi >= SCOPE_ABI) words.push(SCOPE_ABSTRACT_SOCKETS);
  return new Uint8Array(new BigUint64Array(words).buffer);
}
