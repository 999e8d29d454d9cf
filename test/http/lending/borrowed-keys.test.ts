import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { annuityProduct } from '../../../src/admin/example-product.ts';
import { hashPartition } from '../../../src/broker/publishing/partitioning.ts';
import type { HttpResponse } from '../../support/http/client.ts';
import { commandRecord, eventsOfPartition, idInPartition, send } from '../../support/lending/lending-log.ts';
import { eventually } from '../../support/eventually.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';
import { type LendingService, partitionCount, startLendingService } from './lending-service.ts';

type Json = Record<string, unknown>;

/** The refused fields. */
const refusedFields = ({ body }: HttpResponse): unknown[] =>
  (body['errors'] as Json[]).map(({ errorReason, errorSource }) => `${String(errorReason)} ${String(errorSource)}`);

describe('the key of a loan or product', () => {
  let folder: string;
  let service: LendingService;
  let loanKey: string;
  let productKey: string;

  before(async () => {
    folder = await temporaryFolder();
    service = await startLendingService(folder);
    const product = await service.post('/loanproducts', annuityProduct('annuity'));
    expect(product.status, product.text).to.equal(201);
    productKey = String(product.body['encodedKey']);
    const loan = await service.post('/loans', { id: 'victim', productTypeKey: 'annuity', loanAmount: 1000 });
    expect(loan.status, loan.text).to.equal(201);
    loanKey = String(loan.body['encodedKey']);
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  it('cannot be the id of another loan, in upper or lower case', async () => {
    for (const id of [loanKey, loanKey.toUpperCase(), '0'.repeat(32)]) {
      const response = await service.post('/loans', { id, productTypeKey: 'annuity', loanAmount: 1000 });
      expect(response.status, id).to.equal(400);
      expect(refusedFields(response), id).to.deep.equal(['INVALID_PARAMETERS id']);
    }
    expect((await service.get(`/loans/${loanKey}`)).body).to.include({ id: 'victim' });
  });

  it('cannot be the id of another product', async () => {
    for (const id of [productKey, productKey.toUpperCase(), loanKey]) {
      const response = await service.post('/loanproducts', { ...annuityProduct('x'), id });
      expect(response.status, id).to.equal(400);
      expect(refusedFields(response), id).to.deep.equal(['INVALID_PARAMETERS id']);
    }
    expect((await service.get(`/loanproducts/${productKey}`)).body).to.include({ id: 'annuity' });
  });

  it('allows ids of one digit less or more', async () => {
    for (const id of ['a'.repeat(31), 'a'.repeat(33), `g${'a'.repeat(31)}`]) {
      const response = await service.post('/loans', { id, productTypeKey: 'annuity', loanAmount: 1000 });
      expect(response.status, `${id} ${response.text}`).to.equal(201);
    }
  });

  const noKeys = [
    'annuity',
    '<script>alert(1)</script>',
    'a'.repeat(31),
    'a'.repeat(33),
    'A'.repeat(32),
    `${'a'.repeat(31)}g`,
    `${'a'.repeat(32)}\n`,
    7,
  ];
  for (const encodedKey of noKeys) {
    it(`must have 32 hexadecimal digits where a client chooses it, not ${JSON.stringify(encodedKey)}`, async () => {
      const response = await service.post('/loanproducts', { ...annuityProduct('chosen'), encodedKey });
      expect(response.status).to.equal(400);
      expect(refusedFields(response)).to.deep.equal(['INVALID_PARAMETERS encodedKey']);
      const fee = { encodedKey, name: 'fee', trigger: 'MANUAL', amount: 1 };
      const feesSettings = { fees: [fee] };
      const ofFee = await service.post('/loanproducts', { ...annuityProduct('chosen'), feesSettings });
      expect(refusedFields(ofFee)).to.deep.equal(['INVALID_PARAMETERS feesSettings.fees[0].encodedKey']);
    });
  }

  it('may be chosen for a product, but only once', async () => {
    const encodedKey = '8a84b7147d0d296f017d0e1c2c7e0005';
    const first = await service.post('/loanproducts', { ...annuityProduct('first-of-key'), encodedKey });
    expect(first.status, first.text).to.equal(201);
    expect(first.body).to.include({ encodedKey });
    const second = await service.post('/loanproducts', { ...annuityProduct('second-of-key'), encodedKey });
    expect(refusedFields(second)).to.deep.equal(['INVALID_PARAMETERS encodedKey']);
  });

  it('may be chosen by one of two products only, when both are created at once on two partitions', async () => {
    for (let round = 0; round < 20; round += 1) {
      const encodedKey = round.toString(16).padStart(32, 'd');
      const ids = Array.from({ length: partitionCount }, (_, partition) =>
        idInPartition(partition, partitionCount, `at-once-${round}`),
      );
      const created = await Promise.all(
        ids.map((id) => service.post('/loanproducts', { ...annuityProduct(id), encodedKey })),
      );
      const refused = created.filter(({ status }) => status !== 201);
      expect(refused, `round ${round}`).to.have.length(partitionCount - 1);
      for (const response of refused) expect(refusedFields(response)).to.deep.equal(['INVALID_PARAMETERS encodedKey']);
    }
  });

  it('cannot be the id of another fee of the product', async () => {
    const [first, second] = [loanKey, productKey].map((encodedKey) => ({ encodedKey, name: 'f', trigger: 'MANUAL' }));
    const fees = [first, { ...second, id: loanKey }];
    const response = await service.post('/loanproducts', { ...annuityProduct('two-fees'), feesSettings: { fees } });
    expect(refusedFields(response)).to.deep.equal(['INVALID_PARAMETERS feesSettings.fees[1].id']);
  });

  it('cannot be used as an id by commands of producers either, two in one batch and on each partition', async () => {
    for (let partition = 0; partition < partitionCount; partition += 1) {
      const id = idsOfForm.find((candidate) => hashPartition([candidate], partitionCount) === partition) ?? '';
      const loan = { type: 'CREATE_LOAN', id, payload: { productTypeKey: 'annuity', loanAmount: 1000 } } as const;
      const product = { type: 'CREATE_PRODUCT', id, payload: { ...annuityProduct(id) } } as const;
      const keyedId = idInPartition(partition, partitionCount, 'keyed');
      const keyed = { ...annuityProduct(keyedId), encodedKey: 'no key' };
      const records = [loan, loan, product, { type: 'CREATE_PRODUCT', id: keyedId, payload: keyed } as const];
      const before = (await eventsOfPartition(service.log, 'command_rejected', partition)).length;
      await send(service.log, records.map(commandRecord), partition);
      await eventually(
        async () =>
          (await eventsOfPartition(service.log, 'command_rejected', partition)).length === before + records.length,
      );
      const rejected = (await eventsOfPartition(service.log, 'command_rejected', partition)).slice(before);
      expect(rejected.map(({ errors }) => (errors as Json[])[0]?.['errorSource'])).to.deep.equal([
        'id',
        'id',
        'id',
        'encodedKey',
      ]);
      expect((await service.get(`/loanproducts/${keyedId}`)).status).to.equal(404);
    }
  });

  const idsOfForm = Array.from({ length: 20 }, (_, number) => number.toString(16).padStart(32, 'c'));
});
