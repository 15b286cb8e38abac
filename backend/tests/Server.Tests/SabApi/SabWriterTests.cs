using System.Buffers;
using System.Text;
using System.Text.Json;
using System.Xml;
using System.Xml.Linq;
using Sluice.Server.SabApi;
using Xunit;

namespace Sluice.Server.Tests.SabApi;

/// <summary>A mode writes the same response in both formats (SAB-60, SAB-61).</summary>
public sealed class SabWriterTests
{
    [Fact]
    public void Objects_lists_and_fields_become_nested_XML_elements() =>
        Assert.Equal(
            """
            <queue><paused>False</paused><limit>10</limit><finishaction></finishaction><slots><slot><nzo_id>a</nzo_id><labels><item>X</item><item>Y</item></labels></slot><slot><nzo_id>b</nzo_id><labels></labels></slot></slots></queue>
            """,
            Xml(
                to =>
                {
                    to.BeginObject("queue");
                    to.Field("paused", false);
                    to.Field("limit", 10);
                    to.Field("finishaction", null);
                    to.BeginList("slots");
                    foreach (var (id, labels) in new[] { ("a", new[] { "X", "Y" }), ("b", []) })
                    {
                        to.BeginObject();
                        to.Field("nzo_id", id);
                        to.Texts("labels", labels);
                        to.EndObject();
                    }

                    to.EndList();
                    to.EndObject();
                },
                isResult: false));

    [Theory]
    [InlineData("categories", "category")]
    [InlineData("servers", "server")]
    [InlineData("scripts", "script")]
    [InlineData("warnings", "warning")]
    [InlineData("files", "file")]
    [InlineData("nzo_ids", "item")]
    public void List_rows_get_the_element_name_of_their_list(string list, string row) =>
        Assert.Equal($"<{list}><{row}>x</{row}></{list}>", Xml(to => to.Texts(list, ["x"]), isResult: false));

    [Fact]
    public void Several_fields_are_wrapped_in_a_result_element() =>
        Assert.Equal(
            "<result><status>True</status><nzo_ids><item>a</item></nzo_ids></result>",
            Xml(
                to =>
                {
                    to.Field("status", true);
                    to.Texts("nzo_ids", ["a"]);
                },
                isResult: true));

    [Theory]
    [InlineData("2026-01-03", "<item name=\"2026-01-03\">1</item>")]
    [InlineData("my server", "<item name=\"my server\">1</item>")]
    [InlineData("a\"<b>", "<item name=\"a&quot;&lt;b&gt;\">1</item>")]
    [InlineData("", "<item name=\"\">1</item>")]
    [InlineData("a:b", "<item name=\"a:b\">1</item>")]
    [InlineData("caf\u00e9_1.x-y", "<caf\u00e9_1.x-y>1</caf\u00e9_1.x-y>")]
    public void Key_invalid_as_an_element_name_becomes_an_attribute(string key, string expected) =>
        Assert.Equal($"<result>{expected}</result>", Xml(to => to.Field(key, 1), isResult: true));

    [Theory]
    [InlineData("a & b < c > \"d\"", "a &amp; b &lt; c &gt; &quot;d&quot;")]
    [InlineData("\0\u0001\ufffex", "\ufffd\ufffd\ufffdx")]
    [InlineData("\U0001f3ac\t\n", "\U0001f3ac\t\n")]
    [InlineData("a\rb", "a&#13;b")]
    public void Text_is_escaped_or_replaced_for_XML(string text, string expected) =>
        Assert.Equal($"<value>{expected}</value>", Xml(to => to.Field("value", text), isResult: false));

    [Theory]
    [InlineData(0xD83C)]
    [InlineData(0xDFAC)]
    public void Lone_surrogate_is_replaced(int half) =>
        Assert.Equal("<value>a\ufffdb</value>", Xml(to => to.Field("value", $"a{(char)half}b"), isResult: false));

    [Fact]
    public void Random_text_reads_back_through_an_XML_parser()
    {
        var dice = new Random(7);
        for (var round = 0; round < 2000; round++)
        {
            var text = string.Create(dice.Next(12), dice, static (to, from) =>
            {
                for (var i = 0; i < to.Length; i++)
                    to[i] = (char)(from.Next(3) == 0 ? from.Next(0xD700, 0xE000) : from.Next(3) == 0 ? from.Next(0x10000) : from.Next(0x80));
            });
            var document = XDocument.Parse(
                "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n" + Xml(to => to.Field(text, text), isResult: true), LoadOptions.PreserveWhitespace);

            Assert.Equal(Carried(text), document.Root!.Elements().Single().Value);
        }
    }

    [Fact]
    public void JSON_writer_produces_an_object_from_the_calls_for_XML()
    {
        var output = new ArrayBufferWriter<byte>();
        using var to = new SabJsonWriter(output);
        to.Field("text", "a\"\u00e9<");
        to.Field("none", null);
        to.Field("number", -5);
        to.Field("yes", true);
        to.BeginList("rows");
        to.BeginObject();
        to.Field("x", 1);
        to.EndObject();
        to.EndList();
        to.Texts("texts", ["a", "b"]);
        to.Complete();
        to.Flush();

        var text = Encoding.UTF8.GetString(output.WrittenSpan);
        Assert.Equal("""{"text":"a\"é<","none":null,"number":-5,"yes":true,"rows":[{"x":1}],"texts":["a","b"]}""", text);
        using var document = JsonDocument.Parse(text);
        Assert.Equal(6, document.RootElement.EnumerateObject().Count());
    }

    /// <summary>Returns the text with each character that is invalid in XML replaced.</summary>
    private static string Carried(string text)
    {
        var carried = new StringBuilder();
        for (var i = 0; i < text.Length; i++)
        {
            if (i + 1 < text.Length && char.IsSurrogatePair(text[i], text[i + 1]))
                carried.Append(text[i]).Append(text[++i]);
            else
                carried.Append(XmlConvert.IsXmlChar(text[i]) ? text[i] : '\uFFFD');
        }

        return carried.ToString();
    }

    private static string Xml(Action<ISabWriter> write, bool isResult)
    {
        var output = new ArrayBufferWriter<byte>();
        using var to = new SabXmlWriter(output, isResult);
        write(to);
        to.Complete();
        to.Flush();
        var text = Encoding.UTF8.GetString(output.WrittenSpan);
        const string Head = "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n";
        Assert.StartsWith(Head, text, StringComparison.Ordinal);
        return text[Head.Length..];
    }
}
