import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readSubscription } from '../../../src/broker/subscriptions/requested-subscription.ts';
import { outcomeOf } from '../../support/thrown-errors.ts';

const minimal = { owning_application: 'core', event_types: ['loans'] };

describe('reading a subscription', () => {
  it('fills in the defaults of optional fields', () => {
    expect(readSubscription(minimal)).to.deep.equal({
      owning_application: 'core',
      event_types: ['loans'],
      consumer_group: 'default',
      read_from: 'end',
      initial_cursors: [],
      authorization: null,
      annotations: {},
      labels: {},
    });
  });

  it('sorts event types and removes duplicates', () => {
    const { event_types: eventTypes } = readSubscription({ ...minimal, event_types: ['b', 'a', 'b'] });
    expect(eventTypes).to.deep.equal(['a', 'b']);
  });

  it('accepts read_from in any case, and keeps initial cursors with every value', () => {
    const cursor = { event_type: 'loans', partition: '0', offset: 'BEGIN' };
    const read = readSubscription({ ...minimal, read_from: 'BEGIN', initial_cursors: [cursor] });
    expect(read).to.deep.include({ read_from: 'begin', initial_cursors: [cursor] });
  });

  it('ignores unknown fields, fields set by the service, and null lists', () => {
    const strange = {
      id: 'mine',
      created_at: '0001-01-01T00:00:00Z',
      status: [],
      initial_cursors: null,
      annotations: null,
      labels: null,
      authorization: null,
    };
    expect(readSubscription({ ...minimal, ...strange })).to.deep.equal(readSubscription(minimal));
  });

  it('leaves out labels that are null, and keeps such annotations', () => {
    const { annotations, labels } = readSubscription({
      ...minimal,
      annotations: { a: null, b: 'x' },
      labels: { a: null, b: '', c: 'x' },
    });
    expect({ annotations, labels }).to.deep.equal({ annotations: { a: null, b: 'x' }, labels: { b: '', c: 'x' } });
  });

  const refused: [string, Record<string, unknown>, string][] = [
    ['no application', { owning_application: undefined }, '422 Field "owning_application" must not be null\n'],
    [
      'an empty application',
      { owning_application: '' },
      '422 Field "owning_application" must contain at least one character\n',
    ],
    ['an application that is no text', { owning_application: 7 }, '400 Field "owning_application" must be a string'],
    ['no event types', { event_types: undefined }, '422 Field "event_types" must contain at least one element\n'],
    [
      'an empty list of event types',
      { event_types: [] },
      '422 Field "event_types" must contain at least one element\n',
    ],
    ['null for event types', { event_types: null }, '400 Field "event_types" must be a list of strings'],
    [
      'an event type that is no text among others',
      { event_types: ['a', 1] },
      '400 Field "event_types" must be a list of strings',
    ],
    ['event types that are no texts', { event_types: [1] }, '400 Field "event_types" must be a list of strings'],
    ['null for the consumer group', { consumer_group: null }, '422 Field "consumer_group" must not be null\n'],
    [
      'an empty consumer group',
      { consumer_group: '' },
      '422 Field "consumer_group" must contain at least one character\n',
    ],
    [
      'an unknown read_from',
      { read_from: 'now' },
      '400 Field "read_from" cannot be "now". Possible values: begin, end, cursors',
    ],
    ['a null initial cursor', { initial_cursors: [null] }, '422 Field "initial_cursors[0]" must not be null\n'],
    [
      'an initial cursor without offset',
      { initial_cursors: [{ event_type: 'a', partition: '0' }] },
      '422 Field "initial_cursors[0].offset" must not be null\n',
    ],
    ['initial cursors that are no list', { initial_cursors: {} }, '400 Field "initial_cursors" must be a list'],
    [
      'authorization with empty roles',
      { authorization: { admins: [], readers: [] } },
      '422 Field "authorization.admins" must contain at least one attribute\nField "authorization.readers" must contain at least one attribute\n',
    ],
    [
      'authorization with an attribute without a name',
      { authorization: { admins: [{}], readers: [{ data_type: 'a', value: 'b' }] } },
      '422 Field "authorization.admins" must consist of attributes with data_type and value\n',
    ],
    [
      'an annotation with an empty key',
      { annotations: { '': 'x' } },
      '422 Field "annotations[]" Key cannot be empty\nField "annotations[]" Key name should start and end with a letter or a digit\n',
    ],
    [
      'names that are too long',
      { owning_application: 'x'.repeat(256), consumer_group: 'x'.repeat(256) },
      '422 Field "owning_application" must contain at most 255 characters\nField "consumer_group" must contain at most 255 characters\n',
    ],
    [
      'a name of an event type that is too long',
      { event_types: ['a', 'x'.repeat(256)] },
      '422 Field "event_types[1]" must contain at most 255 characters\n',
    ],
    [
      'more event types than the maximum of partitions',
      { event_types: Array.from({ length: 101 }, (_, index) => `type${index}`) },
      '422 Field "event_types" must contain at most 100 elements\n',
    ],
    [
      'more cursors than the maximum of partitions, used or not',
      { initial_cursors: Array.from({ length: 101 }, () => ({ event_type: 'a', partition: '0', offset: '0' })) },
      '422 Field "initial_cursors" must contain at most 100 elements\n',
    ],
    [
      'a cursor that is too long, used or not',
      { initial_cursors: [{ event_type: 'a', partition: '0', offset: '0'.repeat(256) }] },
      '422 Field "initial_cursors[0].offset" must contain at most 255 characters\n',
    ],
    [
      'half of a policy for unprocessable events',
      { annotations: { 'nakadi.zalando.org/subscription-max-event-send-count': '3' } },
      '422 Field "annotations" nakadi.zalando.org/subscription-unprocessable-event-policy must be also set when setting nakadi.zalando.org/subscription-max-event-send-count\n',
    ],
    [
      'dead letters of the queue of dead letters',
      {
        event_types: ['nakadi.dead.letter.queue'],
        annotations: {
          'nakadi.zalando.org/subscription-max-event-send-count': '3',
          'nakadi.zalando.org/subscription-unprocessable-event-policy': 'DEAD_LETTER_QUEUE',
        },
      },
      '422 Field "annotations" nakadi.zalando.org/subscription-unprocessable-event-policy must not be DEAD_LETTER_QUEUE for a subscription of nakadi.dead.letter.queue itself\n',
    ],
    ['a label that is no text', { labels: { a: 1 } }, '400 Field "labels" must be an object of strings'],
  ];
  for (const [what, change, detail] of refused) {
    it(`refuses ${what}`, () => {
      expect(outcomeOf(() => readSubscription({ ...minimal, ...change }))).to.equal(detail);
    });
  }

  it('accepts every text of the maximum length', () => {
    const read = readSubscription({
      owning_application: 'x'.repeat(255),
      consumer_group: 'x'.repeat(255),
      event_types: Array.from({ length: 100 }, (_, index) => `type${index}`),
      initial_cursors: Array.from({ length: 100 }, () => ({
        event_type: 'a',
        partition: '0',
        offset: 'x'.repeat(255),
      })),
      annotations: { 'nakadi.zalando.org/subscription-max-event-send-count': null },
    });
    expect([read.owning_application.length, read.event_types.length]).to.deep.equal([255, 100]);
  });

  it('names every invalid field', () => {
    expect(outcomeOf(() => readSubscription({ consumer_group: '' }))).to.equal(
      '422 Field "owning_application" must not be null\n' +
        'Field "event_types" must contain at least one element\n' +
        'Field "consumer_group" must contain at least one character\n',
    );
  });
});
