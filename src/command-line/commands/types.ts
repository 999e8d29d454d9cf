import { type Command, exitCodes } from '../command.ts';

export const typesCommand: Command = {
  name: 'types',
  parameters: '[<event-type>]',
  wordsMinimum: 0,
  wordsMaximum: 1,
  summary: 'the event types, or the definition of one',
  options: { application: { value: 'NAME', summary: 'only event types of this owning application' } },
  async run({ words, lendstream, output, isJson, text }) {
    const [name] = words;
    if (name !== undefined) {
      const definition = await lendstream.eventType(name);
      if (isJson) await output.json(definition);
      else
        for (const [field, value] of Object.entries(definition))
          await output.line(`${field}: ${JSON.stringify(value)}`);
      return exitCodes.done;
    }
    const application = text('application');
    const types = (await lendstream.eventTypes()).filter(
      ({ owning_application: owner }) => application === undefined || owner === application,
    );
    if (isJson) for (const each of types) await output.json(each);
    else {
      await output.table(types, {
        name: (each) => each.name,
        category: (each) => each.category,
        schema: (each) => each.schema.version,
        application: (each) => each.owning_application,
      });
    }
    return exitCodes.done;
  },
};
