import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { payloadOfProductPatch } from '../../../src/http/lending/product-patch.ts';
import { LendingErrors } from '../../../src/http/edge/lending-errors.ts';
import { annuityProduct } from '../../../src/admin/example-product.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';
import { startLendingService, type LendingService } from './lending-service.ts';

type Json = Record<string, unknown>;

const replace = (path: string, value: unknown): Json => ({ op: 'REPLACE', path, value });

describe('a patch of a product', () => {
  it('sets fields, by paths with or without a leading slash, and the last operation wins', () => {
    const payload = payloadOfProductPatch(
      JSON.stringify([
        replace('/state', 'ACTIVE'),
        { op: 'add', path: 'notes', value: 'n' },
        { ...replace('state', 'INACTIVE'), op: 'replace' },
      ]),
    );
    expect(payload).to.deep.equal({ state: 'INACTIVE', notes: 'n' });
  });

  const refused: readonly (readonly [body: unknown, sources: readonly (string | RegExp)[]])[] = [
    [[replace('/interestSettings/interestRate/defaultValue', 5)], ['/interestSettings/interestRate/defaultValue']],
    [
      [replace('/id', 'x'), replace('/state', 'INACTIVE'), replace('currency', {})],
      ['/id', 'currency'],
    ],
    [[replace('//state', 'INACTIVE')], ['//state']],
    [[replace('/State', 'INACTIVE')], ['/State']],
    [[replace(`/${'p'.repeat(500)}`, 1)], [`/${'p'.repeat(99)}`]],
    [[{ op: 'REMOVE', path: '/notes' }], ['[0].op']],
    [[{ op: 'MOVE', from: '/name', path: '/notes' }], ['[0].from']],
    [[replace('/state', null)], ['state']],
    [[{ op: 'REPLACE', path: '/state' }], ['state']],
    [[5], ['[0]']],
    [[{ ...replace('/state', 'ACTIVE'), extra: 1 }], ['[0].extra']],
    [{ state: 'INACTIVE' }, [/^The body cannot be read: .*list/]],
    [[], [/^The body cannot be read: .*1 to 50 operations/]],
    [Array.from({ length: 51 }, () => replace('/state', 'ACTIVE')), [/1 to 50 operations/]],
  ];
  for (const [body, sources] of refused) {
    it(`refuses ${JSON.stringify(body).slice(0, 80)}`, () => {
      try {
        payloadOfProductPatch(JSON.stringify(body));
      } catch (error) {
        if (!(error instanceof LendingErrors)) throw error;
        expect(error.errors).to.have.length(sources.length);
        for (const [index, source] of sources.entries())
          expect(error.errors[index]?.errorSource).to.match(toPattern(source));
        return;
      }
      expect.fail('It was taken.');
    });
  }

  it('refuses a value that is no string, at any depth', () => {
    for (const levels of [1, 2_000, 5_000, 100_000]) {
      const value = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
      const body = `[{"op":"ADD","path":"/notes","value":${value}}]`;
      expect(() => payloadOfProductPatch(body), `${levels} levels`).to.throw(LendingErrors);
    }
  });

  it('accepts fifty operations, and rejects text that is not an array', () => {
    const fifty = Array.from({ length: 50 }, (_, index) => replace('/name', `n${index}`));
    expect(payloadOfProductPatch(JSON.stringify(fifty))).to.deep.equal({ name: 'n49' });
    for (const body of ['', '{', '[]},"x":[', '[{"op":"ADD","op":"REPLACE","path":"name","value":"n"}]']) {
      expect(() => payloadOfProductPatch(body), body).to.throw(LendingErrors);
    }
  });
});

function toPattern(source: string | RegExp): RegExp {
  return typeof source === 'string' ? new RegExp(`^${source.replaceAll(/[/[\].]/g, '\\$&')}$`) : source;
}

describe('retiring a product', () => {
  let folder: string;
  let service: LendingService;

  before(async () => {
    folder = await temporaryFolder();
    service = await startLendingService(folder);
    expect((await service.post('/loanproducts', annuityProduct('p'))).status).to.equal(201);
    expect((await service.post('/loans', { id: 'before', productTypeKey: 'p', loanAmount: 1000 })).status).to.equal(
      201,
    );
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  const patch = (operations: unknown, key?: string, product = 'p'): Promise<Response> =>
    fetch(`${service.url}/loanproducts/${product}`, {
      method: 'PATCH',
      body: JSON.stringify(operations),
      headers: { 'Content-Type': 'application/json', ...(key === undefined ? {} : { 'Idempotency-Key': key }) },
    });
  const state = async (): Promise<unknown> => (await service.get('/loanproducts/p')).body['state'];
  const open = async (id: string): Promise<unknown> => {
    const response = await service.post('/loans', { id, productTypeKey: 'p', loanAmount: 1000 });
    return response.status === 201 ? 201 : (response.body['errors'] as Json[])[0]?.['errorReason'];
  };

  it('allows no new account under it immediately, and leaves existing ones unchanged', async () => {
    const response = await patch([replace('/state', 'INACTIVE')]);
    expect([response.status, await response.text()]).to.deep.equal([204, '']);
    expect(await state()).to.equal('INACTIVE');
    expect(await open('after')).to.equal('LOAN_PRODUCT_NOT_ACTIVE');
    expect((await service.post('/loans/before:changeState', { action: 'APPROVE' })).status).to.equal(200);
    const paidOut = await service.post('/loans/before/disbursement-transactions', { valueDate: '2026-01-15' });
    expect(paidOut.status, paidOut.text).to.equal(201);
  });

  it('can be undone, under the encodedKey too', async () => {
    const { body } = await service.get('/loanproducts/p');
    expect((await patch([replace('state', 'ACTIVE')], undefined, String(body['encodedKey']))).status).to.equal(204);
    expect(await open('again')).to.equal(201);
  });

  it('is done once under one Idempotency-Key, on a process that never received the request', async () => {
    expect((await patch([replace('/state', 'INACTIVE')], 'once')).status).to.equal(204);
    expect((await patch([replace('/state', 'ACTIVE')], 'other')).status).to.equal(204);
    await service.stop();
    service = await startLendingService(folder);
    const again = await patch([replace('/state', 'INACTIVE')], 'once');
    expect([again.status, again.headers.get('idempotent-replayed')]).to.deep.equal([204, 'true']);
    expect(await state()).to.equal('ACTIVE');
  });

  it('changes name and notes, each up to its maximum length', async () => {
    const [name, notes] = ['n'.repeat(256), 'n'.repeat(2_000)];
    expect((await patch([replace('/name', name), replace('/notes', notes)])).status).to.equal(204);
    expect((await service.get('/loanproducts/p')).body).to.include({ name, notes });
    for (const wrong of [replace('/name', `${name}n`), replace('/notes', `${notes}n`), replace('/state', 'GONE')]) {
      const response = await patch([wrong]);
      const { errors } = (await response.json()) as { errors: Json[] };
      expect([response.status, errors[0]?.['errorSource']]).to.deep.equal([400, String(wrong['path']).slice(1)]);
    }
  });

  it('names the path and gives the reason when it refuses another one', async () => {
    const response = await patch([replace('/taxSettings/taxRate', 19)]);
    expect(response.status).to.equal(400);
    expect(await response.json()).to.deep.equal({
      errors: [
        {
          errorCode: 4,
          errorReason: 'INVALID_PARAMETERS',
          errorSource: '/taxSettings/taxRate',
          errorMessage: 'Only state, name, notes of a product can be changed: loans copy everything else.',
        },
      ],
    });
    expect((await patch([replace('/state', 'INACTIVE')], undefined, 'missing')).status).to.equal(404);
    expect((await fetch(`${service.url}/loanproducts/p`, { method: 'PUT', body: '{}' })).status).to.equal(405);
  });
});
