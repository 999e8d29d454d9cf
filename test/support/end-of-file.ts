/** Resources that the tests of a file share, and that are closed after the last of them. */
const closers = new Set<() => Promise<void>>();

/** Registers a resource that is closed when the tests of this file are over. */
export function atEndOfTestFile(close: () => Promise<void>): void {
  closers.add(close);
}

/** Closes the shared resources. root-hooks.ts calls it. */
export async function endTestFile(): Promise<void> {
  const all = [...closers];
  closers.clear();
  for (const close of all) await close();
}
