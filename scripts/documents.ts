// Writes the pages of docs/ that are made from the program itself. A test holds them to it.

import { settingsPage } from "../src/app/config/help";
import { eventSchemaPage } from "./event-schema";

await Bun.write("docs/settings.md", settingsPage());
await Bun.write("docs/events.schema.json", eventSchemaPage());
