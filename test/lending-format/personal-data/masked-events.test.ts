import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { Registry, registryTopic } from '../../../src/broker/definitions/registry.ts';
import { deadLetterQueue } from '../../../src/broker/definitions/unprocessable-events.ts';
import { deadLettersTopic, loanCommandsTopic } from '../../../src/lending-format/lending-topics.ts';
import { type Erasure, erasureRecords, erasuresBefore } from '../../../src/lending-format/personal-data/erasures.ts';
import { maskedText } from '../../../src/lending-format/personal-data/masked-events.ts';
import { silentLogger } from '../../../src/logger.ts';
import { openTemporaryLog } from '../../support/temporary-log.ts';

const erasure: Erasure = {
  loanAccountId: 'loan',
  loanAccountEncodedKey: 'a'.repeat(32),
  eventSequence: 7,
  partition: 1,
  commandOffset: 20,
  commandId: '8c5c1f0e-2d7b-4c0e-9d58-0d7d7d2f4c11',
  erasedAt: 1_000,
  erasedBy: null,
};

describe('what the log still holds of an account that was erased', () => {
  let registry: Registry;
  let close: () => Promise<void>;

  before(async () => {
    const temporary = await openTemporaryLog();
    const { log } = temporary;
    registry = new Registry(log, silentLogger);
    await registry.start();
    const { records } = erasureRecords([erasure], []);
    await log.append([{ topic: registryTopic, partition: 0, records }]);
    await registry.catchUp();
    close = async () => {
      await registry.stop();
      await temporary.cleanup();
    };
  });
  after(() => close());

  const place = { partition: 1, offset: 19, key: 'loan', appendedAt: 1_000 };
  const masked = (topic: string, text: string, other: object = {}): string | undefined =>
    maskedText(registry, { ...place, topic, ...other }, text);
  const event = (sequence: number, key = erasure.loanAccountEncodedKey): string =>
    `{"account":{"loanName":"x","notes":"x","loanAmount":1000.00,"_set":{"a":"x"}},"loanAccountId":"loan",` +
    `"loanAccountEncodedKey":"${key}","sequence":${sequence}}`;

  it('is shown without it up to the last event before the erasure, with every digit of its amounts', () => {
    expect(masked('loan_account_changed', event(7))).to.equal(
      `{"account":{"loanName":"erased","loanAmount":1000.00},"loanAccountId":"loan",` +
        `"loanAccountEncodedKey":"${erasure.loanAccountEncodedKey}","sequence":7}`,
    );
    expect(masked('loan_account_changed', event(8))).to.equal(undefined);
  });

  it('stays as it is when it is of another account of that id, shows nothing personal, or is no JSON', () => {
    expect(masked('loan_account_changed', event(7, 'b'.repeat(32)))).to.equal(undefined);
    expect(masked('loan_balance_changed', event(7))).to.equal(undefined);
    expect(masked('loan_account_changed', '{')).to.equal(undefined);
    expect(masked('loan_account_changed', '{"account":3,"sequence":7}')).to.equal(undefined);
  });

  const command = '{"type":"REPAY","loanAccountId":"loan","payload":{"notes":"x"}}';

  it('has no payload in commands before it, and all of it in those after it', () => {
    const empty = '{"type":"REPAY","loanAccountId":"loan","payload":{}}';
    expect(masked(loanCommandsTopic, command)).to.equal(empty);
    expect(masked(loanCommandsTopic, command, { offset: 20 })).to.equal(undefined);
    expect(masked(loanCommandsTopic, command, { partition: 0, offset: 99 }), 'in a wrong partition').to.equal(empty);
    expect(masked(loanCommandsTopic, command, { partition: 0, offset: 99, appendedAt: 1_001 })).to.equal(undefined);
    expect(masked(loanCommandsTopic, command.replace('"loan"', '"other"'))).to.equal(undefined);
  });

  it('has no value in dead letters of commands before it', () => {
    const letter = (offset: number): string => `{"reason":"x","partition":1,"offset":${offset},"value":"eA=="}`;
    expect(JSON.parse(masked(deadLettersTopic, letter(19)) ?? '')).to.include({ value: null, offset: 19 });
    expect(masked(deadLettersTopic, letter(19))).not.to.contain('"x"');
    expect(masked(deadLettersTopic, letter(21))).to.equal(undefined);
  });

  it('is masked in the copies that subscriptions could not process', () => {
    const letter = (type: string, text: string): string => `{"event_type":"${type}","event":${text}}`;
    const copy = masked(deadLetterQueue, letter('loan_account_changed', event(7)), { key: 'subscription' });
    expect(copy).to.contain('"loanName":"erased"').and.not.to.contain('"x"');
    expect(masked(deadLetterQueue, letter('loan_account_changed', event(8)))).to.equal(undefined);
    expect(masked(deadLetterQueue, letter(loanCommandsTopic, command))).to.contain('"payload":{}');
    expect(masked(deadLetterQueue, letter('orders', '{"a":1}'))).to.equal(undefined);
  });

  it('is given up once the log holds nothing from before', () => {
    expect(erasuresBefore(registry, 1, 1_001)).to.deep.equal([erasure]);
    expect(erasuresBefore(registry, 1, 1_000)).to.deep.equal([]);
    expect(erasuresBefore(registry, 0, 1_001)).to.deep.equal([]);
  });
});
