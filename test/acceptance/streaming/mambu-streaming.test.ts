import { expect } from 'chai';
import { after, before, beforeEach, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import { anyToken, cursor, newName, offset, startStreamingApi, type StreamingApi } from './streaming-api.ts';
import { clusterUnderTest, isClusterUnderTest } from '../../support/backend-under-test.ts';
import { eventually } from '../../support/eventually.ts';
import { call, type Batch, type Cursor, type HttpResponse } from '../../support/http/client.ts';
import { StreamClient } from '../../support/http/stream-server.ts';
import { startServiceHere } from '../../support/processes/service-here.ts';
import { removeFolder, startService, temporaryFolder } from '../../support/processes/service.ts';

const accept = { Accept: 'application/vnd.mambu.v2+json' };

/** A version as its clients use it: where its subscriptions are, and what they send with each request. */
interface Version {
  readonly name: string;
  readonly path: string;
  readonly headers: Record<string, string>;
}

const first: Version = { name: 'version 1', path: '/api/v1/subscriptions', headers: {} };
const second: Version = { name: 'version 2', path: '/api/subscriptions', headers: accept };
const versions = [first, second];

interface WrappedEvent {
  readonly metadata: Readonly<Record<string, string>>;
  readonly body: string;
  readonly template_name: string;
}

/** What a program does that knows this version and no other API. */
function clientOf(api: StreamingApi, { path, headers }: Version) {
  const commit = (id: string, { streamId }: StreamClient, items: unknown): Promise<HttpResponse> =>
    api.call('POST', `${path}/${id}/cursors`, { items }, { ...headers, 'X-Mambu-StreamId': streamId });
  return {
    post: (body: unknown) => api.call('POST', path, body, headers),
    call: (method: string, rest: string, body?: unknown, more: Record<string, string> = {}) =>
      api.call(method, `${path}${rest}`, body, { ...headers, ...more }),
    /** Creates a subscription from the first event, and returns its id. */
    async subscribe(eventTypes: readonly string[]): Promise<string> {
      const body = { owning_application: newName('app'), event_types: eventTypes, read_from: 'begin' };
      const response = await api.call('POST', path, body, headers);
      expect(response.status).to.equal(201);
      return String(response.body['id']);
    },
    open: (id: string, query = '') => api.openAt(`${path}/${id}/events`, query, { headers }),
    commit,
    /** Commits everything that the stream has sent. */
    commitAll: (id: string, stream: StreamClient) => commit(id, stream, stream.cursors),
  };
}

type MambuClient = ReturnType<typeof clientOf>;

function eventsOf({ batches }: StreamClient): WrappedEvent[] {
  return batches.flatMap(({ events = [] }) => events as unknown as WrappedEvent[]);
}

/** The numbers of the events of a stream, in the order of arrival. */
function numbersOf(stream: StreamClient): number[] {
  return eventsOf(stream).map(({ body }) => (JSON.parse(body) as { number: number }).number);
}

function shard(number: number): string {
  return `shardId-${String(number).padStart(12, '0')}`;
}

/** The offset of an event in a shard; -1 for the position before the first. */
function shardOffset(number: number): string {
  return `49${String(number + 1).padStart(54, '0')}`;
}

const sixFields = ['consumer_group', 'created_at', 'event_types', 'id', 'owning_application', 'read_from'];

describe("Mambu's streaming API", () => {
  let api: StreamingApi;
  let type: string;

  before(async () => {
    api = await startStreamingApi();
  });

  after(() => api.stop());

  beforeEach(async () => {
    type = await api.createEventType();
  });

  const definition = (changes: Record<string, unknown> = {}) => ({
    owning_application: newName('app'),
    event_types: [type],
    ...changes,
  });

  for (const version of versions) {
    describe(`in ${version.name}`, () => {
      let client: MambuClient;

      before(() => {
        client = clientOf(api, version);
      });

      it('creates a subscription once, with exactly its fields, and says where it is', async () => {
        const body = definition({ consumer_group: 'readers', annotations: { a: 'b' }, extra: 1 });
        const created = await client.post(body);
        expect(created.status).to.equal(201);
        const fields = version === first ? sixFields : [...sixFields, 'updated_at'].sort();
        expect(Object.keys(created.body).sort()).to.deep.equal(fields);
        expect(created.body).to.deep.include({
          owning_application: body.owning_application,
          event_types: [type],
          consumer_group: 'readers',
          read_from: 'end',
        });
        expect(created.body['created_at']).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        const location = `${version.path}/${String(created.body['id'])}`;
        expect(created.headers.get('location')).to.equal(location);
        const again = await client.post({ ...body, read_from: 'begin' });
        expect(again.status).to.equal(200);
        expect(again.body).to.deep.equal(created.body);
        expect(again.headers.get('location')).to.equal(location);
        const { body: shown } = await api.call('GET', `/subscriptions/${String(created.body['id'])}`);
        expect(shown['annotations']).to.deep.equal({});
      });

      it('deletes a subscription, and answers 404 to everything about it from then on', async () => {
        const id = await client.subscribe([type]);
        const stream = await client.open(id, '?batch_flush_timeout=1');
        expect((await client.call('DELETE', `/${id}`)).status).to.equal(204);
        await stream.ended;
        expect(stream.lastInfo).to.deep.equal({ debug: 'Subscription was deleted' });
        const statuses = [
          await client.call('DELETE', `/${id}`),
          await client.call('DELETE', '/AAA'),
          await client.call('GET', `/${id}/stats`),
          await client.commit(id, stream, [cursor(type, 0)]),
        ].map(({ status }) => status);
        expect(statuses).to.deep.equal([404, 404, 404, 404]);
        expect((await client.open(id)).status).to.equal(404);
      });

      it('streams events with their metadata apart from their text, and nothing else', async () => {
        await api.publish(type, [7]);
        const id = await client.subscribe([type]);
        const stream = await client.open(id);
        await stream.until(() => eventsOf(stream).length === 1);
        const { headers } = stream.response;
        expect(headers['content-type']).to.equal('application/x-json-stream');
        expect(headers['x-mambu-streamid']).to.match(/^[0-9a-f-]{36}$/);
        expect(headers['x-nakadi-streamid']).to.equal(undefined);
        const [event] = eventsOf(stream);
        expect(event).to.deep.equal({
          metadata: {
            eid: event?.metadata['eid'],
            occurred_at: '2026-03-15T23:47:15Z',
            content_type: 'application/json',
            category: 'DATA',
            event_type: type,
          },
          body: '{"number":7}',
          template_name: type,
        });
        const native = await api.openEventType(type, '', {
          headers: { 'X-Nakadi-Cursors': '[{"partition":"0","offset":"BEGIN"}]' },
        });
        await native.until(() => native.numbers.length === 1);
        const metadata = native.batches[0]?.events?.[0]?.['metadata'] as Record<string, string>;
        expect(event?.metadata['eid']).to.equal(metadata['eid']);
      });

      it('begins with a position before the first event, and ends with the reason as text alone', async () => {
        const id = await client.subscribe([type]);
        const stream = await client.open(id, '?batch_flush_timeout=1&stream_keep_alive_limit=1');
        await stream.ended;
        const [line] = stream.batches;
        const position = version === first ? offset(-1) : shardOffset(-1);
        expect(line?.cursor.offset).to.equal(position);
        expect(Object.keys(line ?? {})).to.deep.equal(['cursor', 'info']);
        expect(Object.keys(stream.lastInfo ?? {})).to.deep.equal(['debug']);
      });

      it('commits: 204, then 200 with the cursors as they were sent', async () => {
        await api.publish(type, [0, 1]);
        const id = await client.subscribe([type]);
        const stream = await client.open(id, '?batch_limit=2');
        await stream.until(() => eventsOf(stream).length === 2);
        const committed = await client.commitAll(id, stream);
        expect([committed.status, committed.text]).to.deep.equal([204, '']);
        const again = await client.commitAll(id, stream);
        expect(again.status).to.equal(200);
        expect(again.body).to.deep.equal({ items: [{ cursor: stream.cursors[0], result: 'outdated' }] });
        expect(await api.committed(id)).to.deep.equal({ [`${type}:0`]: offset(1) });
      });

      it('accepts a commit that its client repeats because the answer was lost', async () => {
        await api.publish(type, [0]);
        const id = await client.subscribe([type]);
        const stream = await client.open(id);
        await stream.until(() => eventsOf(stream).length === 1);
        const connection = new AbortController();
        const lost = fetch(`${api.url}${version.path}/${id}/cursors`, {
          method: 'POST',
          headers: { ...version.headers, 'X-Mambu-StreamId': stream.streamId },
          body: JSON.stringify({ items: stream.cursors }),
          signal: connection.signal,
        });
        connection.abort();
        await lost.catch(() => undefined);
        expect((await client.commitAll(id, stream)).status).to.be.oneOf([200, 204]);
        expect((await client.commitAll(id, stream)).status).to.equal(200);
      });

      it('has only GET, POST and DELETE, and says which of them a path has', async () => {
        const id = await client.subscribe([type]);
        const allowed = {
          '': 'POST',
          [`/${id}`]: 'DELETE',
          [`/${id}/events`]: 'GET',
          [`/${id}/cursors`]: 'POST',
          [`/${id}/stats`]: 'GET',
        };
        for (const [rest, methods] of Object.entries(allowed)) {
          for (const method of ['GET', 'PUT', 'PATCH', 'POST', 'DELETE']) {
            if (method === methods) continue;
            const { status, headers } = await client.call(method, rest, method === 'GET' ? undefined : {});
            expect([method, rest, status, headers.get('allow')]).to.deep.equal([method, rest, 405, methods]);
          }
        }
      });

      it('serves a program from the definition to the commit, and shares the partitions of a second one', async () => {
        const wide = await api.createEventType(2);
        const id = await client.subscribe([wide]);
        await api.publish(wide, [0], 0);
        await api.publish(wide, [1], 1);
        const query = '?batch_flush_timeout=1';
        const one = await client.open(id, query);
        await one.until(() => numbersOf(one).length === 2);
        expect((await client.commitAll(id, one)).status).to.equal(204);
        const two = await client.open(id, query);
        await eventually(async () => {
          const { text } = await api.call('GET', `/subscriptions/${id}/stats`);
          return text.includes(one.streamId) && text.includes(two.streamId) && !text.includes('reassigning');
        });
        const third = await client.open(id);
        expect(third.status).to.equal(409);
        await api.publish(wide, [2], 0);
        await api.publish(wide, [3], 1);
        await two.until(() => numbersOf(two).length === 1);
        await one.until(() => numbersOf(one).length === 3);
        expect([...numbersOf(one).slice(2), ...numbersOf(two)]).to.have.members([2, 3]);
        expect((await client.commitAll(id, two)).status).to.equal(204);
        two.destroy();
        const more = numbersOf(two)[0] === 2 ? 0 : 1;
        await api.publish(wide, [4], more);
        await one.until(() => numbersOf(one).includes(4));
        expect((await client.commitAll(id, one)).status).to.equal(204);
        expect(await api.committed(id)).to.deep.equal({
          [`${wide}:${more}`]: offset(2),
          [`${wide}:${1 - more}`]: offset(1),
        });
        expect((await client.call('DELETE', `/${id}`)).status).to.equal(204);
      });

      it('sends to a reader that pauses no more than it takes, and everything in the end', async () => {
        const large = 'x'.repeat(200_000);
        const events = Array.from({ length: 40 }, (_, number) => ({
          metadata: { eid: randomUUID(), occurred_at: '2026-03-15T23:47:15Z', partition: '0' },
          number,
          text: `${number}"${large}`,
        }));
        const open = await api.createEventType(1, { schema: { type: 'json_schema', schema: '{}' } });
        for (let at = 0; at < events.length; at += 20) {
          const { status } = await api.call('POST', `/event-types/${open}/events`, events.slice(at, at + 20));
          expect(status).to.equal(200);
        }
        const id = await client.subscribe([open]);
        const query = `?batch_limit=4${version === first ? '&max_uncommitted_events=40' : ''}`;
        const stream = await api.openAt(`${version.path}/${id}/events`, query, {
          headers: version.headers,
          paused: true,
        });
        await new Promise((resolve) => setTimeout(resolve, 500));
        stream.read();
        await stream.until(() => eventsOf(stream).length === 40, 20_000);
        for (const [number, { body }] of eventsOf(stream).entries()) {
          expect(JSON.parse(body)).to.deep.equal({ number, text: `${number}"${large}` });
        }
        expect((await client.commitAll(id, stream)).status).to.equal(204);
      });

      it('takes the parameters that streams have beyond it', async () => {
        await api.publish(type, [0, 1, 2]);
        const id = await client.subscribe([type]);
        const query = '?filter=/number=1&strict_commits=true&batch_flush_timeout=1';
        const stream = await client.open(id, query);
        await stream.until(() => numbersOf(stream).length === 1);
        expect(numbersOf(stream)).to.deep.equal([1]);
        expect((await client.call('GET', `/${id}/events?strict_commits=maybe`)).status).to.equal(400);
        expect((await client.commitAll(id, stream)).status).to.equal(204);
      });

      it('compresses a stream for a client that accepts gzip', async () => {
        await api.publish(type, [5]);
        const id = await client.subscribe([type]);
        const stream = await api.openAt(`${version.path}/${id}/events`, '', {
          headers: { ...version.headers, 'Accept-Encoding': 'gzip' },
        });
        await stream.until(() => numbersOf(stream).join() === '5');
        expect(stream.response.headers['content-encoding']).to.equal('gzip');
      });

      it('needs the header of the stream to commit, and the id in it to be one', async () => {
        const id = await client.subscribe([type]);
        const items = [cursor(type, 0)];
        const without = await client.call('POST', `/${id}/cursors`, { items }, { 'X-Nakadi-StreamId': anyToken });
        expect(without.status).to.equal(400);
        expect(without.text).to.include("Required request header 'X-Mambu-StreamId' is not present.");
        const invalid = await client.call('POST', `/${id}/cursors`, { items }, { 'X-Mambu-StreamId': 'x' });
        expect(invalid.status).to.equal(422);
        const unknown = await client.call('POST', `/${id}/cursors`, { items }, { 'X-Mambu-StreamId': randomUUID() });
        expect(unknown.status).to.equal(422);
      });
    });
  }

  describe('in version 1 alone', () => {
    let client: MambuClient;

    before(() => {
      client = clientOf(api, first);
    });

    it('is what a request to the path of version 2 gets that does not accept that version', async () => {
      const unversioned = clientOf(api, { ...second, headers: {} });
      const { body, headers } = await unversioned.post(definition());
      expect(Object.keys(body).sort()).to.deep.equal(sixFields);
      expect(headers.get('location')).to.equal(`${first.path}/${String(body['id'])}`);
      const id = await unversioned.subscribe([type]);
      await api.publish(type, [0]);
      const stream = await unversioned.open(id);
      await stream.until(() => numbersOf(stream).length === 1);
      expect(stream.batches[0]?.cursor).to.deep.include({ partition: '0', offset: offset(0), event_type: type });
      const { body: problem } = await unversioned.call('DELETE', '/AAA');
      expect(problem).to.have.keys('title', 'status', 'detail', 'code');
    });

    it('sends cursors in the form of the log, with one event type in each batch', async () => {
      const other = await api.createEventType();
      await api.publish(type, [0]);
      await api.publish(other, [1]);
      const id = await client.subscribe([type, other]);
      const stream = await client.open(id);
      await stream.until(() => numbersOf(stream).length === 2);
      const cursors = stream.cursors.map(({ event_type, partition, offset: at }) => [event_type, partition, at]);
      expect(cursors).to.have.deep.members([
        [type, '0', offset(0)],
        [other, '0', offset(0)],
      ]);
    });

    it('begins at cursors, also at the words begin and end', async () => {
      const wide = await api.createEventType(3);
      for (const partition of [0, 1, 2]) await api.publish(wide, [partition * 10, partition * 10 + 1], partition);
      const at = (partition: number, position: string) => ({
        event_type: wide,
        partition: String(partition),
        offset: position,
      });
      const cursors = [at(0, 'begin'), at(1, offset(0)), at(2, 'end')];
      const body = { ...definition(), event_types: [wide], read_from: 'cursors', initial_cursors: cursors };
      const { status, body: created } = await client.post(body);
      expect([status, created['read_from']]).to.deep.equal([201, 'cursors']);
      await api.publish(wide, [22], 2);
      const stream = await client.open(String(created['id']), '?max_uncommitted_events=10');
      await stream.until(() => numbersOf(stream).length === 4);
      expect(numbersOf(stream)).to.have.members([0, 1, 11, 22]);
    });

    it('sends no more events than the window that the client asks for', async () => {
      await api.publish(type, [0, 1, 2, 3]);
      const id = await client.subscribe([type]);
      const stream = await client.open(id, '?max_uncommitted_events=3&batch_flush_timeout=1');
      await stream.until(() => stream.batches.length > 3);
      expect(numbersOf(stream)).to.deep.equal([0, 1, 2]);
      expect((await client.commitAll(id, stream)).status).to.equal(204);
      await stream.until(() => numbersOf(stream).length === 4);
    });

    it('refuses with a problem, for a wrong request as for a full subscription', async () => {
      const id = await client.subscribe([type]);
      await client.open(id);
      const refused = [
        [await client.post(definition({ event_types: ['nowhere'] })), 422],
        [await client.post(definition({ owning_application: '' })), 422],
        [await client.post(definition({ read_from: 'middle' })), 400],
        [await client.call('POST', '', '{'), 400],
        [await client.call('GET', `/${id}/events?batch_limit=x`), 400],
        [await client.call('GET', `/${id}/events?commit_timeout=61`), 422],
        [await client.call('GET', `/${id}/events`), 409],
        [await client.call('GET', '/x/y'), 404],
      ] as const;
      for (const [{ status, headers, body }, expected] of refused) {
        expect(status, String(body['detail'])).to.equal(expected);
        expect(headers.get('content-type')).to.equal('application/problem+json');
        expect(body['status']).to.equal(expected);
      }
    });

    it('refuses a cursor of which a part is missing or empty, naming it', async () => {
      await api.publish(type, [0]);
      const id = await client.subscribe([type]);
      const stream = await client.open(id);
      for (const name of Object.keys(cursor(type, 0))) {
        const { [name as keyof Cursor]: _left, ...rest } = cursor(type, 0);
        for (const item of [rest, { ...rest, [name]: '' }]) {
          const { status, body } = await client.commit(id, stream, [item]);
          expect([status, body['title']]).to.deep.equal([422, 'Unprocessable Entity']);
          expect(body['detail']).to.match(new RegExp(`^Field "items\\[0\\]\\.${name}" must `));
        }
      }
      expect(await api.committed(id)).to.deep.equal({ [`${type}:0`]: offset(-1) });
    });

    it('shows statistics by event type, with the lag in time where it is asked for', async () => {
      const id = await client.subscribe([type]);
      const idle = await client.call('GET', `/${id}/stats`);
      const partition = { partition: '0', state: 'unassigned', stream_id: '', unconsumed_events: 0 };
      expect(idle.body).to.deep.equal({ items: [{ event_type: type, partitions: [partition] }] });
      await api.publish(type, [0, 1]);
      const stream = await client.open(id);
      await stream.until(() => numbersOf(stream).length === 2);
      const { body } = await client.call('GET', `/${id}/stats?show_time_lag=true`);
      const [item] = body['items'] as { partitions: Record<string, unknown>[] }[];
      const { consumer_lag_seconds: lag, ...others } = item?.partitions[0] ?? {};
      expect(lag).to.be.a('number');
      expect(others).to.deep.equal({
        partition: '0',
        state: 'assigned',
        unconsumed_events: 2,
        stream_id: stream.streamId,
      });
      expect((await client.call('GET', `/${id}/stats`)).text).not.to.include('consumer_lag_seconds');
    });
  });

  describe('in version 2 alone', () => {
    let client: MambuClient;

    before(() => {
      client = clientOf(api, second);
    });

    it('names its errors as the other APIs of version 2 do, one for each field', async () => {
      const id = await client.subscribe([type]);
      await client.open(id);
      const invalid = (errorSource: string) => ({ errorCode: 4, errorReason: 'INVALID_PARAMETERS', errorSource });
      const { status, headers, body } = await client.post({ owning_application: '' });
      expect([status, headers.get('content-type')]).to.deep.equal([422, 'application/json; charset=utf-8']);
      expect(body).to.deep.equal({
        errors: [
          invalid('Field "owning_application" must contain at least one character'),
          invalid('Field "event_types" must contain at least one element'),
        ],
      });
      const missing = await client.call('GET', '/AAA/stats');
      expect(missing.status).to.equal(404);
      expect(missing.body).to.deep.equal({ errors: [invalid('Subscription with id "AAA" does not exist')] });
      const refused = [
        [await client.post(definition({ event_types: ['nowhere'] })), 422, 'INVALID_PARAMETERS'],
        [await client.call('POST', '', '{'), 400, 'INVALID_PARAMETERS'],
        [await client.call('GET', `/${id}/events?batch_limit=x`), 400, 'INVALID_PARAMETERS'],
        [await client.call('GET', `/${id}/events?commit_timeout=61`), 422, 'INVALID_PARAMETERS'],
        [await client.call('GET', `/${id}/events`), 409, 'ANOTHER_TASK_IN_PROGRESS'],
        [await client.call('GET', '/x/y'), 404, 'INVALID_API_OPERATION'],
        [await client.call('PUT', `/${id}`, {}), 405, 'INVALID_API_OPERATION'],
      ] as const;
      for (const [response, expected, reason] of refused) {
        expect(response.status, response.text).to.equal(expected);
        const [error] = response.body['errors'] as { errorReason: string }[];
        expect(error?.errorReason, response.text).to.equal(reason);
      }
    });

    it('begins at the first event or at the end, and at no cursors', async () => {
      for (const word of ['begin', 'end', 'BEGIN', 'END']) {
        const { status, body } = await client.post(definition({ read_from: word }));
        expect([status, body['read_from']]).to.deep.equal([201, word.toLowerCase()]);
      }
      const cursors = { initial_cursors: [{ event_type: type, partition: '0', offset: offset(-1) }] };
      const refused = await client.post(definition({ read_from: 'cursors', ...cursors }));
      expect(refused.status).to.equal(400);
      expect(refused.text).to.include('Possible values: begin, end');
      const ignored = await client.post(definition({ read_from: 'begin', ...cursors }));
      expect(ignored.status).to.equal(201);
      const { body: shown } = await api.call('GET', `/subscriptions/${String(ignored.body['id'])}`);
      expect(shown['initial_cursors']).to.deep.equal([]);
    });

    it('names shards and the type MIXED in its cursors; each event has its own type', async () => {
      const wide = await api.createEventType(2);
      await api.publish(type, [0]);
      await api.publish(wide, [1], 0);
      await api.publish(wide, [2], 1);
      const id = await client.subscribe([type, wide]);
      const stream = await client.open(id);
      await stream.until(() => numbersOf(stream).length === 3);
      const order = [type, wide].sort();
      const partitions = [
        [type, 0],
        [wide, 0],
        [wide, 1],
      ] as const;
      const expected = partitions.map(([eventType, partition]) => shard(partition * 2 + order.indexOf(eventType)));
      const byNumber = new Map<number, Batch>();
      for (const batch of stream.batches) {
        const [event] = (batch.events ?? []) as unknown as WrappedEvent[];
        if (event !== undefined) byNumber.set((JSON.parse(event.body) as { number: number }).number, batch);
        expect(batch.cursor.event_type).to.equal('MIXED');
      }
      expect([0, 1, 2].map((number) => byNumber.get(number)?.cursor.partition)).to.deep.equal(expected);
      for (const batch of byNumber.values()) expect(batch.cursor.offset).to.equal(shardOffset(0));
      expect(eventsOf(stream).map(({ metadata }) => metadata['event_type'])).to.have.members([type, wide, wide]);
      expect((await client.commitAll(id, stream)).status).to.equal(204);
      expect(await api.committed(id)).to.deep.equal({
        [`${type}:0`]: offset(0),
        [`${wide}:0`]: offset(0),
        [`${wide}:1`]: offset(0),
      });
    });

    it('keeps the names of shards when an event type gets more partitions', async () => {
      const other = await api.createEventType();
      const id = await client.subscribe([type, other]);
      const place = [type, other].sort().indexOf(other);
      await api.publish(other, [0]);
      const before = await client.open(id, '?batch_flush_timeout=1&commit_timeout=2');
      await before.until(() => numbersOf(before).length === 1);
      expect(before.cursors[0]?.partition).to.equal(shard(place));
      const grown = await api.call('PUT', `/event-types/${type}/partition-count`, { partition_count: 3 });
      expect(grown.status).to.equal(204);
      await before.ended;
      const after = await client.open(id, '?batch_flush_timeout=1');
      await after.until(() => numbersOf(after).length === 1);
      expect(after.cursors[0]?.partition).to.equal(shard(place));
      const { body } = await client.call('GET', `/${id}/stats`);
      const [{ partitions = [] } = {}] = body['items'] as { partitions?: { partition: string }[] }[];
      const ofType = [0, 1, 2].map((partition) => shard(partition * 2 + 1 - place));
      expect(partitions.map(({ partition }) => partition)).to.deep.equal([shard(place), ...ofType].sort());
    });

    it('accepts a cursor without type and token, with the type of its events, and in the form of the log', async () => {
      await api.publish(type, [0, 1, 2, 3, 4]);
      const id = await client.subscribe([type]);
      const stream = await client.open(id, '?batch_limit=5');
      await stream.until(() => numbersOf(stream).length === 5);
      const at = (number: number) => ({ partition: shard(0), offset: shardOffset(number) });
      const accepted = [
        at(0),
        { ...at(1), event_type: type },
        { ...at(2), event_type: 'MIXED', cursor_token: 'x'.repeat(255) },
        { ...cursor(type, 3) },
        { ...at(4), event_type: null, cursor_token: null },
      ];
      for (const item of accepted) {
        const { status, text } = await client.commit(id, stream, [item]);
        expect([status, text]).to.deep.equal([204, '']);
      }
      const { status, body } = await client.commit(id, stream, accepted);
      expect(status).to.equal(200);
      const sent = accepted.with(4, at(4));
      expect(body['items']).to.deep.equal(sent.map((item) => ({ cursor: item, result: 'outdated' })));
    });

    it('refuses a cursor that is beyond the end, of another shard, of another type, or too long', async () => {
      await api.publish(type, [0]);
      const id = await client.subscribe([type]);
      const stream = await client.open(id);
      await stream.until(() => numbersOf(stream).length === 1);
      const valid = { partition: shard(0), offset: shardOffset(0) };
      const refused = [
        { ...valid, offset: shardOffset(1) },
        { ...valid, offset: `49${'9'.repeat(54)}` },
        { ...valid, offset: `48${'0'.repeat(54)}` },
        { ...valid, partition: shard(1) },
        { ...valid, partition: 'shardId-0' },
        { ...valid, partition: '0' },
        { ...valid, event_type: 'other' },
        { ...valid, cursor_token: 'x'.repeat(256) },
        { partition: shard(0) },
        { offset: shardOffset(0) },
      ];
      for (const item of refused) {
        const { status, body } = await client.commit(id, stream, [item]);
        expect(status, JSON.stringify(item)).to.equal(422);
        expect(body['errors']).to.have.length(1);
      }
      // It names the shard as it was sent.
      const { body: unknown } = await client.commit(id, stream, [valid, { ...valid, partition: shard(99) }]);
      expect(JSON.stringify(unknown)).to.contain(`non existing partition ${shard(99)}`);
      expect((await client.commit(id, stream, [])).status).to.equal(422);
      expect((await client.commit(id, stream, undefined)).status).to.equal(422);
      expect((await client.commit(id, stream, [null])).status).to.equal(422);
      expect(await api.committed(id)).to.deep.equal({ [`${type}:0`]: offset(-1) });
      expect((await client.commit(id, stream, [valid])).status).to.equal(204);
    });

    it('has a window of ten batches, and no parameter for it', async () => {
      await api.publish(type, [...Array(45).keys()]);
      const id = await client.subscribe([type]);
      const stream = await client.open(id, '?batch_limit=4&max_uncommitted_events=1&batch_flush_timeout=1');
      await stream.until(() => stream.batches.length > 10);
      expect(stream.batches.slice(0, 10).map(({ events }) => events?.length)).to.deep.equal(Array(10).fill(4));
      expect(numbersOf(stream)).to.have.length(40);
      expect((await client.commitAll(id, stream)).status).to.equal(204);
      await stream.until(() => numbersOf(stream).length === 45);
    });

    it('shows the state and the lag in time of each shard, and nothing else', async () => {
      const id = await client.subscribe([type]);
      const idle = await client.call('GET', `/${id}/stats`);
      const partition = { partition: shard(0), state: 'unassigned', consumer_lag_seconds: 0 };
      expect(idle.body).to.deep.equal({ items: [{ partitions: [partition] }] });
      await api.publish(type, [0]);
      const stream = await client.open(id);
      await stream.until(() => numbersOf(stream).length === 1);
      const { body } = await client.call('GET', `/${id}/stats`);
      const [{ partitions = [] } = {}] = body['items'] as { partitions?: Record<string, unknown>[] }[];
      expect(partitions).to.have.length(1);
      expect(partitions[0]).to.have.keys('partition', 'state', 'consumer_lag_seconds');
      expect(partitions[0]).to.include({ partition: shard(0), state: 'assigned' });
    });
  });

  describe('beside the API that it is served by', () => {
    const own: Version = { name: 'own', path: '/subscriptions', headers: {} };

    it('has the same subscriptions: whichever creates one first, the others find it', async () => {
      for (const [creating, ...finding] of [
        [own, first, second],
        [first, second, own],
        [second, own, first],
      ] as const) {
        const body = definition();
        const created = await clientOf(api, creating).post(body);
        expect(created.status, creating.name).to.equal(201);
        for (const version of finding) {
          const found = await clientOf(api, version).post(body);
          expect([found.status, found.body['id']]).to.deep.equal([200, created.body['id']]);
        }
        const id = String(created.body['id']);
        const shown = await api.call('GET', `/subscriptions/${id}`);
        expect(shown.body['owning_application']).to.equal(body.owning_application);
        const listed = await api.call('GET', `/subscriptions?owning_application=${body.owning_application}`);
        expect((listed.body['items'] as { id: string }[]).map((item) => item.id)).to.deep.equal([id]);
        expect((await clientOf(api, finding[1]).call('DELETE', `/${id}`)).status).to.equal(204);
        expect((await api.call('GET', `/subscriptions/${id}`)).status).to.equal(404);
      }
    });

    it('shares the partitions of one subscription among streams of all three, each in its own form', async () => {
      const wide = await api.createEventType(3);
      const id = await api.subscribe([wide]);
      const query = '?batch_flush_timeout=1&commit_timeout=20';
      const [one, two, native] = [
        await clientOf(api, first).open(id, query),
        await clientOf(api, second).open(id, query),
        await api.open(id, query),
      ];
      await eventually(async () => {
        const { text } = await api.call('GET', `/subscriptions/${id}/stats`);
        return [one, two, native].every(({ streamId }) => text.includes(streamId)) && !text.includes('reassigning');
      });
      for (const partition of [0, 1, 2]) await api.publish(wide, [partition], partition);
      await Promise.all([
        one.until(() => numbersOf(one).length === 1),
        two.until(() => numbersOf(two).length === 1),
        native.until(() => native.numbers.length === 1),
      ]);
      expect([...numbersOf(one), ...numbersOf(two), ...native.numbers]).to.have.members([0, 1, 2]);
      expect(two.cursors[0]?.partition).to.equal(shard(numbersOf(two)[0] ?? -1));
      expect((await clientOf(api, first).commitAll(id, one)).status).to.equal(204);
      expect((await clientOf(api, second).commitAll(id, two)).status).to.equal(204);
      expect((await api.commit(id, native, ...native.cursors)).status).to.equal(204);
      const committed = Object.fromEntries([0, 1, 2].map((partition) => [`${wide}:${partition}`, offset(0)]));
      expect(await api.committed(id)).to.deep.equal(committed);
    });

    it('continues in one where a consumer stopped in another', async () => {
      const id = await api.subscribe([type]);
      await api.publish(type, [0, 1, 2]);
      const native = await api.open(id);
      await native.until(() => native.numbers.length === 3);
      await api.commit(id, native, cursor(type, 0));
      native.destroy();
      const two = await clientOf(api, second).open(id);
      await two.until(() => numbersOf(two).length === 2);
      const [{ cursor: sent } = { cursor: cursor(type, 1) }] = two.batches;
      expect(sent.offset).to.equal(shardOffset(1));
      expect((await clientOf(api, second).commit(id, two, [sent])).status).to.equal(204);
      two.destroy();
      const one = await clientOf(api, first).open(id);
      await one.until(() => numbersOf(one).length === 1);
      expect(numbersOf(one)).to.deep.equal([2]);
      expect(one.cursors[0]?.offset).to.equal(offset(2));
    });

    it('commits over one what a stream of another sent', async () => {
      const id = await api.subscribe([type]);
      await api.publish(type, [0, 1]);
      const two = await clientOf(api, second).open(id);
      await two.until(() => numbersOf(two).length === 2);
      expect((await api.commit(id, two, cursor(type, 0))).status).to.equal(204);
      expect((await clientOf(api, first).commit(id, two, [cursor(type, 1)])).status).to.equal(204);
      expect((await api.commit(id, two, ...two.cursors)).status).to.equal(422);
    });

    it('leaves lending and the other paths below /api as they were', async () => {
      const { status, body } = await api.call('GET', '/api/nowhere', undefined, accept);
      expect([status, Object.keys(body)]).to.deep.equal([404, ['errors']]);
      const other = await api.call('GET', '/api/v1/loans');
      expect([other.status, Object.keys(other.body)]).to.deep.equal([404, ['errors']]);
      const loans = await api.call('GET', '/api/loans', undefined, { Accept: 'application/vnd.mambu.v1+json' });
      expect(loans.status).to.equal(406);
    });

    it('ends the streams of a consumer that operators block, and refuses it with 403', async () => {
      const { body } = await api.call('GET', `/subscriptions/${await api.subscribe([type])}`);
      const id = String(body['id']);
      const stream = await clientOf(api, first).open(id, '?batch_flush_timeout=1');
      const blocked = `/settings/blacklist/CONSUMER_APP/${String(body['owning_application'])}`;
      expect((await api.call('PUT', blocked)).status).to.equal(204);
      try {
        await stream.ended;
        for (const version of versions) {
          const client = clientOf(api, version);
          expect((await client.open(id)).status).to.equal(403);
          expect((await client.commit(id, stream, [cursor(type, 0)])).status).to.equal(403);
        }
      } finally {
        expect((await api.call('DELETE', blocked)).status).to.equal(204);
      }
    });
  });

  describe('where there are keys', () => {
    it('takes one in the header apikey, and refuses every other request in the form of its version', async () => {
      const folder = await temporaryFolder();
      const key = 'a-key-that-is-long-enough-for-all-rules';
      const service = await startServiceHere(folder, { ROLES: 'serve', API_KEYS: key });
      try {
        const send = (path: string, headers: Record<string, string>) =>
          fetch(`${service.url}${path}/${randomUUID()}`, { method: 'DELETE', headers });
        for (const { path, headers } of versions) {
          expect((await send(path, { ...headers, apikey: key })).status).to.equal(404);
          for (const wrong of [{}, { apikey: 'wrong' }]) {
            const response = await send(path, { ...headers, ...wrong });
            expect(response.status).to.equal(401);
            expect(response.headers.get('www-authenticate')).to.equal('Bearer');
            const body = (await response.json()) as Record<string, unknown>;
            if (path === first.path) expect(body).to.include({ title: 'Unauthorized', status: 401 });
            else expect(body['errors']).to.have.length(1);
          }
        }
      } finally {
        await service.stop();
        await removeFolder(folder);
      }
    });
  });

  describe('when a process dies', () => {
    it('continues with the same shards, offsets and ids after what was committed', async () => {
      const folder = await temporaryFolder();
      const settings = { ROLES: 'serve', ...clusterUnderTest() };
      const name = newName();
      let service = await startService(folder, settings);
      const send = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
        const response = await call(`${service.url}${path}`, 'POST', body, { ...accept, ...headers });
        expect(response.status, response.text).to.be.within(200, 204);
        return response;
      };
      // On a cluster the slot is free when the lease of the dead process has ended.
      const open = (path: string): Promise<StreamClient> =>
        StreamClient.open(Number(new URL(service.url).port), path, { query: '?wait_for_slot=60', headers: accept });
      try {
        const schema = { type: 'json_schema', schema: '{}' };
        await send('/event-types', { name, owning_application: 'acceptance', category: 'undefined', schema });
        await send(`/event-types/${name}/events`, [{ number: 0 }, { number: 1 }]);
        const body = { owning_application: newName('app'), event_types: [name], read_from: 'begin' };
        const created = await send(second.path, body);
        const path = `${second.path}/${String(created.body['id'])}`;
        const before = await open(`${path}/events`);
        await before.until(() => numbersOf(before).length === 2);
        const items = [before.batches[0]?.cursor];
        await send(`${path}/cursors`, { items }, { 'X-Mambu-StreamId': before.streamId });
        await service.kill();
        await before.ended;
        service = await startService(folder, settings);
        const after = await open(`${path}/events`);
        await after.until(() => numbersOf(after).length === 1, 30_000);
        expect(eventsOf(after)).to.deep.equal(eventsOf(before).slice(1));
        expect(after.cursors[0]).to.include({ partition: shard(0), offset: shardOffset(1) });
        await send(`${path}/cursors`, { items: after.cursors }, { 'X-Mambu-StreamId': after.streamId });
        after.destroy();
      } finally {
        await service.stop();
        await removeFolder(folder);
      }
    });
  });

  describe('with two processes', () => {
    it('creates over one, streams over the other, and commits over the first', async function test() {
      if (!isClusterUnderTest()) {
        process.stdout.write('      skipped: only a cluster has two processes\n');
        this.skip();
      }
      const other = await startStreamingApi();
      try {
        for (const [index, version] of versions.entries()) {
          const [here, there] = [clientOf(api, version), clientOf(other, version)];
          await api.publish(type, [index]);
          const id = await here.subscribe([type]);
          const stream = await there.open(id);
          await stream.until(() => numbersOf(stream).length === index + 1);
          expect((await here.commitAll(id, stream)).status).to.equal(204);
          expect(await other.committed(id)).to.deep.equal({ [`${type}:0`]: offset(index) });
          expect((await here.call('DELETE', `/${id}`)).status).to.equal(204);
          await stream.ended;
          expect((await there.call('DELETE', `/${id}`)).status).to.equal(404);
        }
      } finally {
        await other.stop();
      }
    });
  });
});
