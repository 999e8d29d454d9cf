/** How long an open resource may keep a process from ending, such as connections that are kept alive. Milliseconds. */
export const lingerMillisecondsMaximum = 30_000;

/**
 * Lets this process end when nothing is open any more. Leaving something open is a fault, so nothing is
 * closed here: what keeps the process is named after a while, and the exit code is 1.
 * @param say is called with the sentence
 */
export function endByItself(say: (line: string) => void, lingerMilliseconds = lingerMillisecondsMaximum): void {
  // Only when nothing is open any more. Shutting the engine down could wait for ever for a native module.
  process.once('beforeExit', () => process.exit());
  setTimeout(() => {
    const open = process.getActiveResourcesInfo().join(', ');
    say(`Something was left open, so the process did not end within ${lingerMilliseconds / 1_000} s: ${open}`);
    process.exit(1);
  }, lingerMilliseconds).unref();
}
