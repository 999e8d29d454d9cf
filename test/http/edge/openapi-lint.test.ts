import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/package-root.ts';

/** What the linter remarks and stays as it is, by rule and place, with the reason. */
const accepted: Readonly<Record<string, string>> = {
  'no-ambiguous-paths #/paths/~1loans~1transactions~1{transactionId}':
    'the API that loans are compatible with has both paths',
  'operation-2xx-response #/paths/~1indexratesources/post/responses':
    'clients of that API meet a refusal with its reason, where they would meet 404',
  'no-unused-components #/components/schemas/BusinessDayClosed': 'the type of a message of an event type',
  'no-unused-components #/components/schemas/LoanCommand': 'the type of a message of an event type',
  'no-unused-components #/components/schemas/LoanCommandFieldSet':
    'what `x-exactly` says of the names that begin with _',
};

describe('a linter of API descriptions', () => {
  it('remarks nothing with its recommended rules but what is known, with a reason', async () => {
    const source = readFileSync(join(packageRoot, 'schemas/openapi.json'), 'utf8');
    const config = await createConfig({ extends: ['recommended'] });
    const remarks = await lintFromString({ source, absoluteRef: '/openapi.json', config });
    const places = remarks.map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer ?? ''}`);
    expect(places.sort()).to.deep.equal(Object.keys(accepted).sort());
  });
});
