using Sluice.Server.WebDav;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

public sealed class DavPathTests
{
    [Theory]
    [InlineData("/", "")]
    [InlineData("", null)]
    [InlineData("*", null)]
    [InlineData("content", null)]
    [InlineData("http://host", "")]
    [InlineData("http://host:3000/content/a?x=/y", "content|a")]
    [InlineData("http://host?x", "")]
    [InlineData("/content/tv/a.mkv?download=true", "content|tv|a.mkv")]
    [InlineData("//content///tv//", "content|tv")]
    [InlineData("/a%20b/%23%25%2B", "a b|#%+")]
    [InlineData("/%2541", "%41")]
    [InlineData("/%41", "A")]
    [InlineData("/e%CC%81", "\u00e9")]
    [InlineData("/%C3%A9", "\u00e9")]
    [InlineData("/%F0%9F%8E%AC", "\U0001F3AC")]
    [InlineData("/a+b", "a+b")]
    [InlineData("/name.", "name.")]
    [InlineData("/...", "...")]
    [InlineData("/%", null)]
    [InlineData("/%4", null)]
    [InlineData("/%zz", null)]
    [InlineData("/%00", null)]
    [InlineData("/a%2Fb", null)]
    [InlineData("/a%2fb", null)]
    [InlineData("/a%5Cb", null)]
    [InlineData("/a\\b", null)]
    [InlineData("/%FF", null)]
    [InlineData("/%EF%BF%BE", null)]
    [InlineData("/content/a%EF%BF%BEb/c", null)]
    [InlineData("/%C3", null)]
    [InlineData("/%ED%A0%80", null)]
    [InlineData("/%C0%AF", null)]
    [InlineData("/a/../b", null)]
    [InlineData("/a/./b", null)]
    [InlineData("/a/%2e%2E/b", null)]
    [InlineData("/a/%2e", null)]
    public void Request_target_is_decoded_once_or_rejected(string target, string? expected)
    {
        var parsed = DavPath.TryParse(target, "", out var path);

        Assert.Equal(expected is not null, parsed);
        Assert.Equal(expected, path is null ? null : string.Join('|', path.Segments));
    }

    [Theory]
    [InlineData("/", true)]
    [InlineData("/a", false)]
    [InlineData("/a/", true)]
    [InlineData("/a//", true)]
    public void Trailing_slash_is_remembered(string target, bool expected)
    {
        Assert.True(DavPath.TryParse(target, "", out var path));

        Assert.Equal(expected, path.HasTrailingSlash);
    }

    [Theory]
    [InlineData("/x/", "/x", "/x/")]
    [InlineData("/x", "/x", "/x/")]
    [InlineData("/x/a%20b", "/x", "/x/a%20b")]
    [InlineData("/x/y/a", "/x/y", "/x/y/a")]
    [InlineData("//x//a", "/x", "/x/a")]
    public void Url_base_is_stripped_from_segments_and_kept_in_hrefs(string target, string urlBase, string href)
    {
        Assert.True(DavPath.TryParse(target, urlBase, out var path));

        Assert.Equal(href, path.Href(isCollection: false));
        Assert.DoesNotContain("x", path.Segments);
    }

    [Fact]
    public void Href_keeps_the_Unicode_form_of_the_request()
    {
        Assert.True(DavPath.TryParse("/e%cc%81%41/b", "", out var path));

        Assert.Equal("/e%CC%81A/b/", path.Href(isCollection: true));
        Assert.Equal("\u00e9A", path.Segments[0]);
        Assert.Equal("/e%CC%81A/", path.Parent.Href(isCollection: true));
    }

    [Theory]
    [InlineData("a b", "a%20b")]
    [InlineData("!$&'()*+,;=:@-._~", "!$&'()*+,;=:@-._~")]
    [InlineData("#%?[]\"<>|", "%23%25%3F%5B%5D%22%3C%3E%7C")]
    [InlineData("\u00e9\U0001F3AC", "%C3%A9%F0%9F%8E%AC")]
    public void Percent_encoding_round_trips(string name, string encoded)
    {
        Assert.Equal(encoded, PercentEncoding.Encode(name));
        Assert.True(PercentEncoding.TryDecode(encoded, out var decoded));
        Assert.Equal(name, decoded);
    }
}
