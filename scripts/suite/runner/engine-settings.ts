import { setFlagsFromString } from 'node:v8';

/**
 * How much of a function runs until V8 optimizes it, in bytes of its code: six times the default. Tests run most of the
 * product a few times only, and to optimize that takes more processor time than it saves.
 */
const interruptBudgetBytes = 400_000;

/** From this version of Node.js on, V8 counts calls instead and has no such option. */
const majorVersionWithoutBudget = 24;

/** Lets this process, and the threads that it starts, optimize only what runs often. */
export function optimizeLess(): void {
  if (Number.parseInt(process.versions.node, 10) >= majorVersionWithoutBudget) return;
  setFlagsFromString(`--interrupt-budget=${interruptBudgetBytes}`);
}
