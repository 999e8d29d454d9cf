import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { isClusterUnderTest, clusterUnderTest } from '../../support/backend-under-test.ts';
import { eventually } from '../../support/eventually.ts';
import { call } from '../../support/http/client.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../../support/processes/service.ts';
import { startProgram, type Ended } from '../../command-line/started-program.ts';

const administrator = 'the-key-of-an-administrator';

/** How often a process is killed. */
const kills = 2;

/** So many changes are acknowledged between two kills. */
const changesBetweenKills = 25;

/** So many clients change something at the same time. */
const clients = 4;

interface AuditRecord {
  readonly metadata: { readonly flow_id: string; readonly partition: string };
  readonly stage: string;
  readonly subject: { readonly name: string | null } | null;
  readonly status?: number;
}

interface Page {
  readonly items: readonly { readonly event: AuditRecord }[];
  readonly ended_by: string;
  readonly next?: string;
}

/**
 * Clients create keys while a process is killed. On the embedded store it is the only one; on the cluster the clients
 * use two at the same time, of which one is killed.
 */
describe('the audit of processes that are killed', function () {
  this.timeout(240_000);
  const folders: string[] = [];
  let services: Service[] = [];
  const prefix = `survival-${process.pid}-`;
  const acknowledged = new Set<string>();
  let sent = 0;

  const start = async (folder: string): Promise<Service> =>
    startService(folder, { API_KEYS: administrator, ...clusterUnderTest() });

  before(async () => {
    for (let at = 0; at < (isClusterUnderTest() ? 2 : 1); at += 1) folders.push(await temporaryFolder());
    services = await Promise.all(folders.map(start));
  });

  after(async () => {
    await Promise.all(services.map((service) => service.stop()));
    await Promise.all(folders.map(removeFolder));
  });

  /** Creates keys, one after another, until the process does not respond or it is told to stop. */
  async function createKeys({ url }: Service, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      sent += 1;
      const name = `${prefix}${sent}`;
      const body = { name, owning_application: 'shop', scopes: ['consumer'] };
      const headers = { apikey: administrator, 'X-Flow-Id': name };
      const response = await call(`${url}/api-keys`, 'POST', body, headers).catch(() => undefined);
      if (response === undefined) return;
      expect(response.status, response.text).to.equal(201);
      acknowledged.add(name);
    }
  }

  /** The audit of the keys that were created here, by their names. */
  async function recordsByName(): Promise<ReadonlyMap<string, readonly AuditRecord[]>> {
    const found = new Map<string, AuditRecord[]>();
    let page: Page | undefined;
    do {
      const query = page === undefined ? 'filter=/operation=createApiKey&limit=1000' : `token=${page.next}&limit=1000`;
      const url = `${services[0]?.url}/event-types/lendstream.audit/retained-events?${query}`;
      const { status, text, body } = await call(url, 'GET', undefined, {
        apikey: administrator,
      });
      expect(status, text).to.equal(200);
      page = body as unknown as Page;
      for (const { event } of page.items) {
        const { flow_id: flowId } = event.metadata;
        if (flowId.startsWith(prefix)) found.set(flowId, [...(found.get(flowId) ?? []), event]);
      }
    } while (page.next !== undefined && page.ended_by !== 'end');
    return found;
  }

  function verify(): Promise<Ended> {
    const environment = {
      LENDSTREAM_URL: String(services[0]?.url),
      LENDSTREAM_API_KEY: administrator,
    };
    return startProgram(['audit', 'verify', '--json'], environment).ended;
  }

  it('has every acknowledged change, and no change without a record, in whole chains', async () => {
    for (let round = 0; round < kills; round += 1) {
      let isOver = false;
      const wanted = acknowledged.size + changesBetweenKills;
      const changes = Array.from({ length: clients }, (_, at) =>
        createKeys(services[at % services.length] as Service, () => isOver),
      );
      await eventually(() => acknowledged.size >= wanted, 60_000);
      await services[0]?.kill();
      // What is still acknowledged comes from the other process.
      const others = acknowledged.size;
      if (isClusterUnderTest()) await eventually(() => acknowledged.size > others + clients, 60_000);
      isOver = true;
      await Promise.all(changes);
      services[0] = await start(folders[0] as string);
    }
    expect(sent, 'some were killed in the middle').to.be.above(acknowledged.size);

    const records = await recordsByName();
    const whole = [...records].filter(([, [started, finished, ...others]]) => {
      const stages = [started?.stage, finished?.stage, finished?.status, others.length];
      return stages.join() === ['started', 'finished', 201, 0].join();
    });
    const names = new Set(whole.map(([name]) => name));
    expect([...acknowledged].filter((name) => !names.has(name))).to.deep.equal([]);

    const listed = await call(`${services[0]?.url}/api-keys`, 'GET', undefined, { apikey: administrator });
    const present = (listed.body['items'] as { readonly name: string }[]).filter(({ name }) => name.startsWith(prefix));
    expect(present.length).to.be.at.least(acknowledged.size);
    expect(present.filter(({ name }) => !records.has(name))).to.deep.equal([]);

    const partitions = new Set([...records.values()].flat().map(({ metadata }) => metadata.partition));
    if (isClusterUnderTest()) expect(partitions.size, 'each process has a chain').to.be.at.least(2);
    const { code, messages, output } = await verify();
    expect(code, messages + output).to.equal(0);
  });
});
