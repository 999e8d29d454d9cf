import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  includesPermission,
  isPermission,
  permissionOfCommand,
  permissionTexts,
  permissionsOf,
  rolePermissions,
} from '../../src/access/permissions.ts';
import { commandTypes } from '../../src/lending-format/command-format.ts';
import { packageRoot } from '../../src/package-root.ts';

const document = readFileSync(join(packageRoot, 'docs/access.md'), 'utf8');

/** The rows of the table that begins with a head, as [name, text]. */
function tableAfter(head: string): [string, string][] {
  const [, rest = ''] = document.split(new RegExp(String.raw`^\| ${head} +\|.*\n.*\n`, 'm'));
  const [table = ''] = rest.split('\n\n', 1);
  return [...table.matchAll(/^\| `([^`]+)` +\| (.*?) +\|$/gm)].map(([, name = '', text = '']) => [name, text]);
}

describe('permissions', () => {
  it('stand in docs/access.md, each with what it allows', () => {
    const plain = (text: string): string => text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
    const documented = tableAfter('permission').map(([name, text]) => [name, plain(text)]);
    const one = ['loan-commands:<TYPE>', 'send one command, such as `loan-commands:REPAY`'];
    expect(documented).to.deep.equal([...Object.entries(permissionTexts), one]);
  });

  it('stand in docs/access.md under each role', () => {
    const named = (permissions: readonly string[]): string => permissions.map((name) => `\`${name}\``).join(', ');
    const expected = Object.entries(rolePermissions).map(([role, permissions]) => [
      role,
      role === 'admin' ? 'all' : named(permissions),
    ]);
    expect(tableAfter('role')).to.deep.equal(expected);
  });

  it('exist for every command', () => {
    expect(commandTypes.filter((type) => !isPermission(permissionOfCommand(type)))).to.deep.equal([]);
  });

  it('of all commands on loans include those of single ones, and neither products nor business days', () => {
    const permissions = permissionsOf(['loan-commands:*']);
    const rows = [
      ['REPAY', true],
      ['ERASE_PERSONAL_DATA', true],
      ['CREATE_PRODUCT', false],
      ['END_OF_DAY', false],
    ] as const;
    for (const [type, isIncluded] of rows) {
      expect(includesPermission(permissions, permissionOfCommand(type)), type).to.equal(isIncluded);
    }
  });

  it('of one command include no other', () => {
    const permissions = permissionsOf(['loan-commands:REPAY']);
    expect(includesPermission(permissions, 'loan-commands:REPAY')).to.equal(true);
    expect(includesPermission(permissions, 'loan-commands:DISBURSE')).to.equal(false);
    expect(includesPermission(permissions, 'loan-commands:*')).to.equal(false);
  });

  it('are not given by a scope that is no permission and no role', () => {
    expect([...permissionsOf(['toString', 'loan-commands:', 'Admin', ''])]).to.deep.equal([]);
  });
});
