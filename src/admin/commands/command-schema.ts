import commandText from '../../../schemas/commands/loan-command.json?raw';
import commonText from '../../../schemas/common.json?raw';

/**
 * The schema of loan commands that the service has. It is a part of the page, as a key may have the right to send
 * commands and not to see event types. Its code is loaded when the first form is shown.
 */
export const commandSchema = JSON.stringify(
  withDefinitions(commandText.replaceAll('../common.json#', '#'), commonText),
);

interface WithDefinitions {
  readonly $defs: Readonly<Record<string, unknown>>;
}

function withDefinitions(schemaText: string, commonText: string): WithDefinitions {
  const schema = JSON.parse(schemaText) as WithDefinitions;
  const common = JSON.parse(commonText) as WithDefinitions;
  return { ...schema, $defs: { ...common.$defs, ...schema.$defs } };
}
