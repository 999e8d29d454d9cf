import { readFileSync, writeFileSync } from 'node:fs';

/** Writes a generated file. With `--check` it writes nothing, and fails when the file in the tree has another text. */
export function writeOrCheckFile(path: string, text: string): void {
  if (!process.argv.includes('--check')) {
    writeFileSync(path, text);
  } else if (readFileSync(path, 'utf8') !== text) {
    console.error(`${path} is out of date: run npm run generate`);
    process.exitCode = 1;
  }
}
