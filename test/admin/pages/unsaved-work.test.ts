import { expect } from 'chai';
import { before, it } from 'mocha';
import { describeAdminPage } from './admin-browser.ts';

describeAdminPage('unsaved work on the admin page', (admin) => {
  const { open, visit, button, link, text, dialog, screenshot } = admin;

  let name = '';

  before(async () => {
    name = await admin.loadDemoData();
  });

  const owner = () => admin.page.getByLabel('Owning application');

  /** @param go Loads the page again where there may be unsaved work. */
  async function edit(go: (path: string) => Promise<unknown> = visit): Promise<void> {
    await go('/event-types');
    await admin.page.evaluate('delete history.go');
    await link(name).click();
    await link('Edit').click();
    await owner().waitFor();
  }

  it('asks before following a link that would lose unsaved work, and stays when the user cancels', async () => {
    await edit();
    await owner().fill('somebody else');
    await link('Loans').click();
    await dialog().getByText('Leave without saving?').waitFor();
    expect(await admin.faults()).to.deep.equal([]);
    await screenshot('unsaved-dialog');
    await admin.page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    expect([await owner().inputValue(), new URL(admin.page.url()).pathname.endsWith('/edit')]).to.deep.equal([
      'somebody else',
      true,
    ]);
    await link('Loans').click();
    await dialog().getByRole('button', { name: 'Leave' }).click();
    await admin.page.getByRole('heading', { name: 'Loans' }).waitFor();
    expect(new URL(admin.page.url()).pathname).to.equal('/admin/loans');
  });

  /** The browser may take time to move through the history: nothing may be asked before it has arrived. */
  for (const [speed, milliseconds] of [
    ['fast', 0],
    ['slow', 300],
  ] as const) {
    async function editSlowly(): Promise<void> {
      await edit();
      const slower = `const go = history.go.bind(history);
          history.go = (steps) => setTimeout(() => go(steps), ${milliseconds});`;
      if (milliseconds > 0) await admin.page.evaluate(slower);
    }
    const answer = (choice: string) => dialog().getByRole('button', { name: choice }).click();
    const pathname = () => new URL(admin.page.url()).pathname;

    it(`asks before going back loses work, and then goes back as far as requested (${speed} history)`, async () => {
      await editSlowly();
      await owner().fill('somebody else');
      await admin.page.evaluate('history.go(-2)');
      await answer('Cancel');
      expect([await owner().inputValue(), pathname()]).to.deep.equal([
        'somebody else',
        `/admin/event-types/${name}/edit`,
      ]);
      await admin.page.evaluate('history.back()');
      await answer('Leave');
      await admin.page.getByRole('heading', { name, exact: true }).waitFor();
      expect(pathname()).to.equal(`/admin/event-types/${name}`);
      await admin.page.goForward();
      await owner().fill('somebody else');
      await admin.page.evaluate('history.go(-2)');
      await answer('Leave');
      await admin.page.getByRole('heading', { name: 'Event types' }).waitFor();
      expect(pathname()).to.equal('/admin/event-types');
    });

    it(`asks correctly when the user goes back again before the question, or instead of answering (${speed} history)`, async () => {
      await editSlowly();
      await link('Loans').click();
      await link('Toggles').click();
      await admin.page.getByRole('heading', { name: 'Toggles' }).waitFor();
      await admin.page.evaluate('history.go(-2)');
      await owner().fill('somebody else');
      await admin.page.evaluate('history.back(), history.back()');
      await answer('Cancel');
      expect([await owner().inputValue(), pathname()]).to.deep.equal([
        'somebody else',
        `/admin/event-types/${name}/edit`,
      ]);
      await admin.page.evaluate('history.back()');
      await dialog().waitFor();
      await admin.page.evaluate(`new Promise((resolve) => {
        addEventListener('popstate', () => location.pathname.endsWith('/edit') && resolve());
        history.forward();
      })`);
      await answer('Leave');
      await admin.page.getByRole('heading', { name: 'Loans' }).waitFor();
      expect(pathname()).to.equal('/admin/loans');
    });

    it(`asks about a link that was followed while the browser was going back (${speed} history)`, async () => {
      await editSlowly();
      await owner().fill('somebody else');
      await admin.page.evaluate(`new Promise((resolve) => {
          addEventListener('popstate', () => {
            document.querySelector('nav a[href="/admin/toggles"]').click();
            resolve();
          }, { once: true });
          history.back();
        })`);
      await answer('Leave');
      await admin.page.getByRole('heading', { name: 'Toggles' }).waitFor();
      expect(pathname()).to.equal('/admin/toggles');
      await admin.page.evaluate('history.back()');
      await owner().waitFor();
    });
  }

  it('goes back after the user used the skip link, however often', async () => {
    await edit();
    await owner().fill('somebody else');
    const skip = link('Skip to content');
    for (const _ of ['once', 'twice']) {
      await skip.focus();
      await admin.page.keyboard.press('Enter');
      expect(await admin.page.evaluate('document.activeElement.id')).to.equal('content');
    }
    await admin.page.evaluate('history.back()');
    await dialog().getByRole('button', { name: 'Leave' }).click();
    await admin.page.getByRole('heading', { name, exact: true }).waitFor();
  });

  it('guards a change immediately after it is made', async () => {
    await edit();
    const asked = await admin.page.evaluate<boolean[]>(`(async () => {
      const owner = document.querySelector('section input:not([readonly])');
      const isAsked = () => !dispatchEvent(new Event('beforeunload', { cancelable: true }));
      const before = isAsked();
      owner.value = 'somebody else';
      owner.dispatchEvent(new InputEvent('input', { bubbles: true }));
      await null;
      return [before, isAsked()];
    })()`);
    expect(asked).to.deep.equal([false, true]);
  });

  it('lets the browser ask before closing or reloading the tab loses work', async () => {
    const asked: string[] = [];
    // The browser reloads without asking when the page does not answer it in time, as on a busy machine.
    for (let attempt = 0; attempt < 5 && asked.length === 0; attempt += 1) {
      await edit(open);
      admin.page.once('dialog', (shown) => {
        asked.push(shown.type());
        void shown.accept();
      });
      await owner().click();
      await owner().fill('somebody else');
      await admin.page.reload();
      admin.page.removeAllListeners('dialog');
    }
    expect(asked).to.deep.equal(['beforeunload']);
  });

  it('asks nothing when nothing was changed, or the change was undone or saved', async () => {
    await edit();
    const before = await owner().inputValue();
    await owner().fill('somebody else');
    await owner().fill(before);
    await link('Loans').click();
    await admin.page.getByRole('heading', { name: 'Loans' }).waitFor();
    await admin.page.goBack();
    await owner().fill('demo');
    await admin.page.getByLabel('Retention in hours').fill('24');
    await button('Save').click();
    await text('24 h').waitFor();
    await link('Loans').click();
    await admin.page.getByRole('heading', { name: 'Loans' }).waitFor();
    expect(await dialog().count()).to.equal(0);
  });
});
