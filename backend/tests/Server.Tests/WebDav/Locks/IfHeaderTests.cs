using Sluice.Server.WebDav;
using Sluice.Server.WebDav.Locks;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

/// <summary>Grammar and meaning of <c>If</c> (RFC 4918, section 10.4).</summary>
public sealed class IfHeaderTests
{
    private const string Token = "urn:uuid:181d4fae-7d8c-11d0-a765-00a0c91e6bf2";

    [Theory]
    [InlineData("(<urn:uuid:1>)", "(urn:uuid:1)")]
    [InlineData("  ( <urn:uuid:1>\t[\"a b\"]  ) ", null)]
    [InlineData("(<urn:uuid:1> [\"ab\"])", "(urn:uuid:1 \"ab\")")]
    [InlineData("(<urn:uuid:1> [W/\"ab\"]) ([\"x\"])", "(urn:uuid:1 W/\"ab\") (\"x\")")]
    [InlineData("(Not <urn:uuid:1> <urn:uuid:2>)", "(!urn:uuid:1 urn:uuid:2)")]
    [InlineData("(not[\"x\"])", "(!\"x\")")]
    [InlineData("(<urn:uuid:1>)(Not<DAV:no-lock>)", "(urn:uuid:1) (!DAV:no-lock)")]
    [InlineData("</a> (<urn:uuid:1>) ([\"x\"]) <http://h/b>(Not [\"y\"])", "/a(urn:uuid:1) /a(\"x\") http://h/b(!\"y\")")]
    [InlineData("", null)]
    [InlineData("()", null)]
    [InlineData("(<urn:uuid:1>", null)]
    [InlineData("<urn:uuid:1>", null)]
    [InlineData("</a>", null)]
    [InlineData("(<urn:uuid:1>) </a> (<urn:uuid:2>)", null)]
    [InlineData("(<no-scheme>)", null)]
    [InlineData("(<:no-scheme>)", null)]
    [InlineData("(<>)", null)]
    [InlineData("(<urn:a b>)", null)]
    [InlineData("(\"etag\")", null)]
    [InlineData("([etag])", null)]
    [InlineData("([\"etag\")", null)]
    [InlineData("(Not)", null)]
    [InlineData("(Not Not <urn:uuid:1>)", null)]
    [InlineData("(<urn:uuid:1>),(<urn:uuid:2>)", null)]
    [InlineData("(<urn:uuid:1>) x", null)]
    [InlineData("urn:uuid:1", null)]
    public void If_header_is_parsed_or_rejected(string text, string? expected)
    {
        var read = IfHeader.TryParse(text, out var header);

        Assert.Equal(expected is not null, read);
        if (header is not null)
            Assert.Equal(expected, string.Join(' ', header.Lists.Select(Show)));
    }

    [Fact]
    public void If_header_lists_are_limited_in_number()
    {
        Assert.True(IfHeader.TryParse(string.Concat(Enumerable.Repeat("(<a:b>)", IfHeaderReader.MaxLists)), out _));
        Assert.False(IfHeader.TryParse(string.Concat(Enumerable.Repeat("(<a:b>)", IfHeaderReader.MaxLists + 1)), out _));
    }

    [Theory]
    [InlineData($"(<{Token}>)", true)]
    [InlineData("(<urn:uuid:other>)", false)]
    [InlineData($"(Not <{Token}>)", false)]
    [InlineData("(Not <DAV:no-lock>)", true)]
    [InlineData("(<DAV:no-lock>)", false)]
    [InlineData("([\"tag\"])", true)]
    [InlineData("([W/\"tag\"])", false)]
    [InlineData("([\"other\"])", false)]
    [InlineData("(Not [\"other\"])", true)]
    [InlineData($"(<{Token}> [\"tag\"])", true)]
    [InlineData($"(<{Token}> [\"other\"])", false)]
    [InlineData($"(<{Token}> [\"other\"]) (Not <DAV:no-lock>)", true)]
    [InlineData($"</free> (<{Token}>)", false)]
    [InlineData("</free> (Not [\"tag\"])", true)]
    [InlineData($"</free> (<{Token}>) </locked> (<{Token}>)", true)]
    public void One_matching_list_is_enough(string text, bool expected)
    {
        Assert.True(IfHeader.TryParse(text, out var header));

        var locked = new ResourceState([Token], new EntityTag("tag"));
        Assert.Equal(expected, header.Holds(resource => resource == "/free" ? new ResourceState([], null) : locked));
    }

    [Fact]
    public void Negated_token_does_not_count_as_submitted()
    {
        Assert.True(IfHeader.TryParse("(<a:1> Not <a:2>) (Not <DAV:no-lock>) ([\"x\"] <a:3>)", out var header));

        Assert.Equal(["a:1", "a:3"], header.Submitted);
    }

    private static string Show(IfList list) =>
        $"{list.Resource}({string.Join(' ', list.Conditions.Select(one => $"{(one.IsNegated ? "!" : "")}{one.Token ?? one.Tag.ToString()}"))})";
}
