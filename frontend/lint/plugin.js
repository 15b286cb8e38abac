import path from "node:path";
import { fileURLToPath } from "node:url";

const source = fileURLToPath(new URL("../src/", import.meta.url));

// The folders that each folder of src/ may import. "self" stands for the same feature.
const allowed = {
  app: ["app", "features", "components", "lib", "types"],
  features: ["self", "components", "lib", "types"],
  components: ["components", "lib"],
  lib: ["lib", "types"],
  types: ["types"],
  testing: ["testing", "components", "lib", "types"],
};

/** Returns the folder of src/ that holds a file, and its feature; null outside src/. */
function placeOf(file) {
  const relative = path.relative(source, file);
  if (relative.startsWith("..") || path.isAbsolute(relative)) return null;
  const [layer, feature] = relative.split(path.sep);
  return { layer, feature };
}

/** @type {import("eslint").Rule.RuleModule} */
const layers = {
  meta: { type: "problem", schema: [], messages: { wrongWay: "src/{{from}} must not import src/{{to}}." } },
  create(context) {
    const from = placeOf(context.filename);
    const may = from && allowed[from.layer];
    if (!may) return {};
    const isTest = /\.test\.tsx?$/.test(context.filename);
    function check(node) {
      const name = node.source?.value;
      if (typeof name !== "string") return;
      const target = name.startsWith("@/")
        ? path.join(source, name.slice(2))
        : name.startsWith(".")
          ? path.resolve(path.dirname(context.filename), name)
          : null;
      const to = target && placeOf(target);
      if (!to || (isTest && to.layer === "testing")) return;
      const isSelf = from.layer === to.layer && (from.layer !== "features" || from.feature === to.feature);
      if (isSelf || (to.layer !== "features" && may.includes(to.layer)) || (from.layer === "app" && to.layer === "features")) return;
      context.report({
        node,
        messageId: "wrongWay",
        data: {
          from: from.layer === "features" ? `features/${from.feature}` : from.layer,
          to: to.layer === "features" ? `features/${to.feature}` : to.layer,
        },
      });
    }
    return { ImportDeclaration: check, ExportNamedDeclaration: check, ExportAllDeclaration: check, ImportExpression: check };
  },
};

/** @type {import("eslint").Rule.RuleModule} */
const kebabCase = {
  meta: { type: "problem", schema: [], messages: { name: "Name the file in kebab-case." } },
  create(context) {
    const name = path.basename(context.filename);
    const isKebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)+$/.test(name);
    return isKebab ? {} : { Program: (node) => context.report({ node, messageId: "name" }) };
  },
};

// Attributes that people read or hear.
const spoken = new Set([
  "alt", "aria-description", "aria-label", "aria-placeholder", "aria-roledescription", "aria-valuetext", "confirm", "description", "heading", "help",
  "hint", "label", "placeholder", "title",
]);

const hasLetters = (text) => /\p{L}/u.test(text);

/** @type {import("eslint").Rule.RuleModule} */
const noLiteralText = {
  meta: { type: "problem", schema: [], messages: { literal: "Texts come from t(), not from the markup: “{{text}}”." } },
  create(context) {
    function report(node, text) {
      if (hasLetters(text)) context.report({ node, messageId: "literal", data: { text: text.trim() } });
    }
    /** Checks a value and both branches of its conditions. */
    function look(node) {
      if (!node) return;
      if (node.type === "Literal" && typeof node.value === "string") report(node, node.value);
      else if (node.type === "TemplateLiteral") report(node, node.quasis.map((part) => part.value.raw).join(""));
      else if (node.type === "ConditionalExpression") [node.consequent, node.alternate].forEach(look);
      else if (node.type === "LogicalExpression") [node.left, node.right].forEach(look);
      else if (node.type === "JSXExpressionContainer") look(node.expression);
    }
    return {
      JSXText: (node) => report(node, node.value),
      "JSXElement > JSXExpressionContainer": look,
      "JSXFragment > JSXExpressionContainer": look,
      JSXAttribute(node) {
        if (node.name.type === "JSXIdentifier" && spoken.has(node.name.name)) look(node.value);
      },
    };
  },
};

/** @type {import("eslint").Rule.RuleModule} */
const forwardSignal = {
  meta: { type: "problem", schema: [], messages: { signal: "Take { signal } and hand it to the request." } },
  create(context) {
    return {
      "Property[key.name='queryFn'] > :matches(ArrowFunctionExpression, FunctionExpression).value"(node) {
        if (!context.sourceCode.getText(node).includes("signal")) context.report({ node, messageId: "signal" });
      },
    };
  },
};

/** The lazily loaded half of a part takes its types from a separate file, not from the half that loads it. @type {import("eslint").Rule.RuleModule} */
const lazyHalf = {
  meta: { type: "problem", schema: [], messages: { circle: "{{file}} loads this file; put what both need into a file of its own." } },
  create(context) {
    const first = path.basename(context.filename).replace(/-(body|table)\.tsx$/, "");
    const isHalf = first !== path.basename(context.filename);
    return {
      ImportDeclaration(node) {
        if (isHalf && node.source.value === `./${first}`) context.report({ node, messageId: "circle", data: { file: `${first}.tsx` } });
      },
    };
  },
};

export default {
  rules: { layers, "kebab-case": kebabCase, "no-literal-text": noLiteralText, "forward-signal": forwardSignal, "lazy-half": lazyHalf },
};
