import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { recordEventExamples, togglesOf } from '../../scripts/docs/event-examples.ts';
import { exampleBlocks } from '../../scripts/docs/markdown.ts';
import { packageRoot } from '../../src/package-root.ts';
import { lendingEventTypeNames } from '../../src/lending-format/lending-topics.ts';
import { lendingSchema } from '../../src/lending-format/self-contained-schema.ts';
import { startServiceHere } from '../support/processes/service-here.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

/** Every field of a value by its path; the rows of a list count as one. */
function fieldsOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((item) => fieldsOf(item, `${path}[]`)))];
  if (typeof value !== 'object' || value === null || 'isLosslessNumber' in value) return [path];
  return Object.entries(value).flatMap(([name, field]) => fieldsOf(field, `${path}.${name}`));
}

describe('docs/events.md', () => {
  it('shows every lending event under the settings of the toggles, valid and with the fields of a current run', async () => {
    const blocks = exampleBlocks(await readFile(join(packageRoot, 'docs/events.md'), 'utf8'));
    const names = lendingEventTypeNames.flatMap((name) => togglesOf(name).map((toggles) => `${name}.${toggles}`));
    expect([...blocks.keys()].sort()).to.deep.equal(names.sort());

    const dataFolder = await temporaryFolder();
    const service = await startServiceHere(dataFolder);
    try {
      for (const { eventType, toggles, event } of await recordEventExamples(service.url)) {
        const name = `${eventType}.${toggles}`;
        const example = JSON.parse(blocks.get(name)?.text ?? '') as unknown;
        const ajv = new Ajv2020({ strict: false });
        formats.default(ajv);
        const schema = lendingSchema(`events/${eventType.replaceAll('_', '-')}.json`);
        expect(ajv.validate(schema, example), `${name}: ${ajv.errorsText()}`).to.equal(true);
        expect(fieldsOf(example).sort(), name).to.deep.equal(fieldsOf(event).sort());
      }
    } finally {
      await service.stop();
      await removeFolder(dataFolder);
    }
  });
});
