import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../src/package-root.ts';
import { type ContractOperation, type DescribedApi, lendingApiDocument } from './docs/lending-api.ts';
import { writeOrCheckFile } from './generated-file.ts';
import { composeDescription } from './openapi/compose.ts';
import { descriptionForClients } from './openapi/for-clients.ts';
import { endIfHelpIsAsked } from './read-usage.ts';

/**
 * Builds schemas/openapi.json from its source files, and docs/lending-api.md from it. With `--check` it writes nothing,
 * and fails when a file in the tree differs from what they give.
 */
endIfHelpIsAsked('generate');

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');

const { version } = JSON.parse(read('package.json')) as { version: string };
const description = descriptionForClients(composeDescription(join(packageRoot, 'schemas'), version));
const contract = JSON.parse(read('scripts/docs/contract-operations.json')) as ContractOperation[];
const page = 'docs/lending-api.md';
const made: Readonly<Record<string, string>> = {
  'schemas/openapi.json': `${JSON.stringify(description, null, 2)}\n`,
  [page]: await lendingApiDocument(description as unknown as DescribedApi, contract, join(packageRoot, page)),
};
for (const [path, text] of Object.entries(made)) writeOrCheckFile(join(packageRoot, path), text);
