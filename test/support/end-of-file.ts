/** Resources that the tests of a file share, and that are closed after the last of them. */
const closers = new Set<() => Promise<void>>();

/** Resources that the files of a process share, and that are closed after the last of them. */
const lastClosers = new Set<() => Promise<void>>();

let hasMoreFiles = false;

/** Registers a resource that is closed when the tests of this file are over. */
export function atEndOfTestFile(close: () => Promise<void>): void {
  closers.add(close);
}

/** Registers a resource that is closed when all tests of this process are over. */
export function atEndOfTestProcess(close: () => Promise<void>): void {
  lastClosers.add(close);
}

/** Lets this process keep from file to file what they share, until {@link endTestProcess} is called. */
export function keepForNextFile(): void {
  hasMoreFiles = true;
}

/** Closes the shared resources. root-hooks.ts calls it. */
export async function endTestFile(): Promise<void> {
  await closeAll(closers);
  if (!hasMoreFiles) await endTestProcess();
}

/** Closes what the files of this process share. */
export function endTestProcess(): Promise<void> {
  return closeAll(lastClosers);
}

async function closeAll(shared: Set<() => Promise<void>>): Promise<void> {
  const all = [...shared];
  shared.clear();
  for (const close of all) await close();
}
