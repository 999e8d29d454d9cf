import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../src/package-root.ts';
import { alertsAsMarkdown, alertsOfChartPath, alertsPath, readAlerts, withSection } from './deployment/alerts.ts';
import { formatText } from './format-text.ts';
import { writeOrCheckFile } from './generated-file.ts';
import { endIfHelpIsAsked } from './read-usage.ts';

/**
 * Puts the alerts of deploy/prometheus/alerts.yml into docs/operating.md and into the Helm chart, which can read no
 * file outside of its folder. With `--check` it writes nothing, and fails when one of them has others.
 */
endIfHelpIsAsked('generate');

const page = join(packageRoot, 'docs/operating.md');
const text = withSection(readFileSync(page, 'utf8'), 'alerts', alertsAsMarkdown(readAlerts()));
writeOrCheckFile(page, await formatText(page, text));
writeOrCheckFile(alertsOfChartPath, readFileSync(alertsPath, 'utf8'));
