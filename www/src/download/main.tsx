import { render } from "preact";
import { Downloads } from "./downloads";
import { hubBase } from "./hub";
import { Page } from "./page";
import "./style.css";

render(<Page downloads={new Downloads()} hub={hubBase(location.search, document.baseURI)} />, document.getElementById("app")!);
