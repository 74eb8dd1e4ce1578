import { render } from "preact";
import { EngineClient } from "./engine";
import { watchRequests } from "./requests";
import { App } from "./ui/app";

watchRequests();
const engine = new EngineClient(new URL("models/registry.json", document.baseURI).href);
engine.start();
render(<App engine={engine} />, document.getElementById("app")!);
