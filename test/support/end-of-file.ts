/** What the tests of a file share, and what is closed behind the last of them. */
const closers = new Set<() => Promise<void>>();

/** Has something closed when the tests of this file are over. */
export function atEndOfTestFile(close: () => Promise<void>): void {
  closers.add(close);
}

/** Closes what was shared. root-hooks.ts calls it. */
export async function endTestFile(): Promise<void> {
  const all = [...closers];
  closers.clear();
  for (const close of all) await close();
}
