import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A JSON Schema document as parsed JSON. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The folder of package.json; compiled files run from a folder two levels below it. */
export const packageRoot = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Reads one schema file of the contract.
 * @param name Path below schemas/, e.g. `events/loan-balance-changed.json`.
 */
export function loadSchema(name: string): JsonSchema {
  return JSON.parse(readFileSync(new URL(`../../schemas/${name}`, import.meta.url), 'utf8')) as JsonSchema;
}
