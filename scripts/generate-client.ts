import { join } from 'node:path';
import { packageRoot } from '../src/package-root.ts';
import { clientSource } from './client/client-source.ts';
import { readContract } from './client/contract.ts';
import { formatText } from './format-text.ts';
import { writeOrCheckFile } from './generated-file.ts';
import { endIfHelpIsAsked } from './read-usage.ts';

/**
 * Makes the client of the acceptance tests from the contract of the API's origin. With `--check` it writes nothing, and
 * fails when the file in the tree differs from what the contract gives.
 */
endIfHelpIsAsked('generate');

const target = join(packageRoot, 'test/acceptance/lending/client.generated.ts');
writeOrCheckFile(target, await formatText(target, await clientSource(readContract())));
