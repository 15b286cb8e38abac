using Microsoft.AspNetCore.Http;
using Sluice.Server.WebDav;
using Sluice.Server.WebDav.Content;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

public sealed class PreconditionsTests
{
    private const string Before = "Sat, 03 Jan 2026 09:59:59 GMT";
    private const string Same = "Sat, 03 Jan 2026 10:00:00 GMT";
    private const string After = "Sat, 03 Jan 2026 10:00:01 GMT";

    private static readonly EntityTag Tag = new("abc");
    private static readonly DateTimeOffset Modified = new(2026, 1, 3, 10, 0, 0, 700, TimeSpan.Zero);

    [Theory]
    [InlineData("If-Match: \"abc\"", "Proceed", "Proceed")]
    [InlineData("If-Match: \"x\", \"abc\"", "Proceed", "Proceed")]
    [InlineData("If-Match: *", "Proceed", "Proceed")]
    [InlineData("If-Match: \"x\"", "Failed", "Failed")]
    [InlineData("If-Match: W/\"abc\"", "Failed", "Failed")]
    [InlineData("If-Match: abc", "Failed", "Failed")]
    [InlineData("If-Match: ", "Failed", "Failed")]
    [InlineData("If-None-Match: \"abc\"", "NotModified", "Failed")]
    [InlineData("If-None-Match: W/\"abc\"", "NotModified", "Failed")]
    [InlineData("If-None-Match: \"x\" , \"y\",,\"abc\"", "NotModified", "Failed")]
    [InlineData("If-None-Match: *", "NotModified", "Failed")]
    [InlineData("If-None-Match: \"x\"", "Proceed", "Proceed")]
    [InlineData("If-None-Match: abc", "Proceed", "Proceed")]
    [InlineData("If-Unmodified-Since: " + Before, "Failed", "Failed")]
    [InlineData("If-Unmodified-Since: " + Same, "Proceed", "Proceed")]
    [InlineData("If-Unmodified-Since: " + After, "Proceed", "Proceed")]
    [InlineData("If-Unmodified-Since: yesterday", "Proceed", "Proceed")]
    [InlineData("If-Modified-Since: " + Before, "Proceed", "Proceed")]
    [InlineData("If-Modified-Since: " + Same, "NotModified", "Proceed")]
    [InlineData("If-Modified-Since: " + After, "NotModified", "Proceed")]
    [InlineData("If-Modified-Since: Saturday, 03-Jan-26 10:00:00 GMT", "NotModified", "Proceed")]
    [InlineData("If-Modified-Since: yesterday", "Proceed", "Proceed")]
    [InlineData("If-Match: \"abc\"|If-Unmodified-Since: " + Before, "Proceed", "Proceed")]
    [InlineData("If-None-Match: \"x\"|If-Modified-Since: " + After, "Proceed", "Proceed")]
    [InlineData("If-None-Match: \"abc\"|If-Modified-Since: " + Before, "NotModified", "Failed")]
    [InlineData("If-Match: \"x\"|If-None-Match: \"abc\"", "Failed", "Failed")]
    [InlineData("If-Unmodified-Since: " + Before + "|If-None-Match: \"abc\"", "Failed", "Failed")]
    [InlineData("", "Proceed", "Proceed")]
    public void Preconditions_are_evaluated_in_the_order_of_RFC_9110(string headers, string onRead, string onWrite)
    {
        var conditions = Parse(headers);

        Assert.Equal(onRead, conditions.Evaluate(isRead: true, Tag, Modified).ToString());
        Assert.Equal(onWrite, conditions.Evaluate(isRead: false, Tag, Modified).ToString());
    }

    [Theory]
    [InlineData("If-Match: *", "Failed")]
    [InlineData("If-Match: \"abc\"", "Failed")]
    [InlineData("If-None-Match: *", "Proceed")]
    [InlineData("If-Unmodified-Since: " + Before, "Proceed")]
    public void If_Match_fails_for_a_missing_resource(string headers, string expected) =>
        Assert.Equal(expected, Parse(headers).Evaluate(isRead: false, tag: null, lastModified: null).ToString());

    [Theory]
    [InlineData("", true)]
    [InlineData("If-Range: \"abc\"", true)]
    [InlineData("If-Range: W/\"abc\"", false)]
    [InlineData("If-Range: \"x\"", false)]
    [InlineData("If-Range: abc", false)]
    [InlineData("If-Range: \"abc\", \"x\"", false)]
    [InlineData("If-Range: " + Same, true)]
    [InlineData("If-Range: " + Before, false)]
    [InlineData("If-Range: " + After, false)]
    public void If_Range_allows_the_range_only_on_an_exact_match(string headers, bool expected) =>
        Assert.Equal(expected, Parse(headers).AllowsRange(Tag, Modified));

    private static Preconditions Parse(string headers)
    {
        var dictionary = new HeaderDictionary();
        foreach (var header in headers.Split('|', StringSplitOptions.RemoveEmptyEntries))
        {
            var colon = header.IndexOf(':', StringComparison.Ordinal);
            dictionary[header[..colon]] = header[(colon + 1)..].Trim();
        }

        return Preconditions.Parse(dictionary);
    }
}
