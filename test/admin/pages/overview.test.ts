import { expect } from 'chai';
import { it } from 'mocha';
import { describeAdminPage } from './admin-browser.ts';

describeAdminPage('the overview of the admin page', (admin) => {
  const { open, button, link, text, row, api } = admin;

  it('is the first page, and offers the demo data of an empty system', async () => {
    await open('');
    await admin.heading('Overview').waitFor();
    await text('ready').waitFor();
    await button('Load demo data').click();
    await row('demo /')
      .getByText(/^[1-9]\d*$/)
      .waitFor();
  });

  it('shows what needs attention, and leads to it', async () => {
    const [version] = [(await api('GET', '/version')).body as { version: string }];
    await admin.page.getByText(version.version, { exact: true }).waitFor();
    await text(/^\d.* of .* free/).waitFor();
    await link('Lag (events)').click();
    await admin.heading('Subscriptions').waitFor();
    expect(admin.address()).to.equal('/subscriptions?sort=-lag-events');
    await admin.page.goBack();
    await link('Dead letters of commands').click();
    await text('No events yet.').waitFor();
    await admin.page.goBack();
    await link(/^demo \//).click();
    await admin.heading('Definition').waitFor();
  });

  it('lists the nodes, and is red for a lost one alone', async () => {
    const nodes = admin.page.getByRole('table', { name: 'Nodes' });
    await admin.page.route('**/overview', async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { nodes: Record<string, unknown>[] };
      // Its state is renewed every few seconds only.
      const own = { ...body.nodes[0], state: 'ready' };
      const starting = { ...own, node_id: 'b', address: 'http://10.0.0.2:8080', state: 'not_ready' };
      const at = new Date(Date.now() - 120_000).toISOString();
      const lost = { ...own, node_id: 'c', address: 'http://10.0.0.3:8080', state: 'lost', last_heard_at: at };
      const other = { node_id: 'd', host: 'a-very-long-name-of-a-pod-in-a-large-cluster-7c9f6d5b8-x2x4z' };
      const serving = { ...own, ...other, roles: ['serve'], subscription_streams: 1_200, stream_partitions: 4_000 };
      await route.fulfill({ json: { ...body, nodes: [own, starting, lost, serving] } });
    });
    await open('');
    await nodes.getByText('(this one)').waitFor();
    expect(await nodes.getByText('(this one)').count()).to.equal(1);
    expect(await nodes.locator('.tag.bad').allTextContents()).to.deep.equal(['lost']);
    await nodes.getByText('2 min ago').waitFor();
    expect(await nodes.locator('.tag.warn').allTextContents()).to.deep.equal(['not ready']);
    await nodes.getByRole('link', { name: '1,200' }).waitFor();
    await admin.screenshot('overview-nodes');
    expect(await admin.faults()).to.deep.equal([]);
    await admin.page.unroute('**/overview');
  });

  it('fills the rows of its tiles at every width, be the disk known or not', async () => {
    for (const isDiskKnown of [true, false]) {
      await admin.page.route('**/overview', async (route) => {
        const response = await route.fetch();
        const body = (await response.json()) as { process: { disk: unknown } };
        if (!isDiskKnown) body.process.disk = null;
        await route.fulfill({ json: body });
      });
      await open('');
      await text('Dead letters of consumers').waitFor();
      expect(await admin.page.locator('.tile').count()).to.equal(isDiskKnown ? 11 : 10);
      const columnsFrom = isDiskKnown ? { 360: 2, 900: 4, 2100: 6 } : { 360: 2, 1100: 5 };
      for (const width of [360, 720, 899, 900, 1099, 1100, 1280, 1440, 1920, 2099, 2100, 3840]) {
        await admin.page.setViewportSize({ width, height: 800 });
        const { room, columns } = await admin.page.locator('.tiles').evaluate((tiles) => {
          const right = tiles.getBoundingClientRect().right;
          // Those at the end of a row are followed by one that is further to the left, or by none.
          const ends = [...tiles.children].map((tile) => tile.getBoundingClientRect());
          const last = ends.filter(({ left }, at) => (ends[at + 1]?.left ?? -1) < left);
          return {
            room: Math.max(...last.map((tile) => right - tile.right)),
            columns: ends.filter(({ top }) => top === ends[0]?.top).length,
          };
        });
        expect(room, `${width} wide`).to.be.lessThan(1);
        const [, expected] = Object.entries(columnsFrom).findLast(([from]) => width >= Number(from)) ?? [];
        expect(columns, `${width} wide`).to.equal(expected);
      }
      await admin.page.unroute('**/overview');
    }
    await admin.page.setViewportSize({ width: 1280, height: 800 });
  });

  it('draws the last hour once there is something to draw', async () => {
    await admin.page.route('**/overview', async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { history: Record<string, unknown>; dead_letters: object };
      const values = Array.from({ length: 360 }, (_, index) => index % 60);
      const history = {
        ...body.history,
        published_per_second: values,
        publish_p99_seconds: [null, 0.0042, null],
        unconsumed_events: values.map((value) => (value === 7 ? null : value * 100)),
        disk_used_bytes: values.map((_, index) => 2 ** 30 + index),
      };
      await route.fulfill({ json: { ...body, history, dead_letters: { commands: 3, subscriptions: 0 } } });
    });
    await open('');
    await admin.page.getByRole('img', { name: 'Events published per second, at most 59 in the last hour' }).waitFor();
    await admin.page.getByRole('img', { name: 'Lag in events, at most 5,900 in the last hour' }).waitFor();
    await admin.page.getByRole('img', { name: 'Disk used, at most 1.0 GiB in the last hour' }).waitFor();
    await text('4.2 ms').waitFor();
    await admin.screenshot('overview-history');
    expect(await admin.page.locator('.is-bad').allTextContents()).to.deep.equal(['Dead letters of commands3']);
    expect(await admin.faults()).to.deep.equal([]);
    await admin.page.unroute('**/overview');
  });
});
