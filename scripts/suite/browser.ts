import { chromiumBrowser, provide } from '../local-cluster/prerequisites.ts';

/** Provides a browser where it may. Without one, the tests that need it report what happens to them. */
export async function provideBrowser(): Promise<void> {
  try {
    await provide([chromiumBrowser], (line) => console.error(line));
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
  }
}
