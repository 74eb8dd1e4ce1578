import { render } from "preact";
import { EngineClient } from "./engine";
import { keepOffline } from "./offline";
import { watchRequests } from "./requests";
import { watchRoute } from "./router";
import { App } from "./ui/app";

watchRequests();
watchRoute();
keepOffline();
const engine = new EngineClient(new URL("models/registry.json", document.baseURI).href);
// A link may ask for a backend: `?backend=gpu` or `?backend=cpu`.
const asked = new URLSearchParams(location.search).get("backend");
if (asked === "gpu" || asked === "cpu") engine.state.value = { ...engine.state.value, backend: asked };
engine.start();
render(<App engine={engine} />, document.getElementById("app")!);
