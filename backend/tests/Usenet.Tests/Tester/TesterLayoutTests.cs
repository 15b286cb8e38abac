using Xunit;

namespace Sluice.Usenet.Tests.Tester;

/// <summary>Releases with archives, from the NZB to the last byte, each compared with the truth of the mock.</summary>
public sealed class TesterLayoutTests
{
    private static readonly string[] Small = ["--size=1", "--limit=1", "--article-size=20000", "--json=-"];

    [Theory]
    [InlineData("split", "--volumes=4")]
    [InlineData("rar4", "--volumes=7")]
    [InlineData("rar4-enc", "--volumes=4")]
    [InlineData("rar5", "--volumes=12")]
    [InlineData("rar5-enc", "--volumes=4")]
    [InlineData("rar5-hdrenc", "--volumes=4", "--password=another-word")]
    [InlineData("7z", "--volumes=3")]
    [InlineData("7z-enc", "--volumes=3")]
    [InlineData("zip")]
    [InlineData("tar")]
    [InlineData("nested", "--volumes=6")]
    [InlineData("rar5", "--volumes=6", "--obfuscate", "--par2=4")]
    [InlineData("rar5", "--volumes=3", "--files=3")]
    public async Task Layout_is_mapped_and_every_byte_is_correct(string layout, params string[] more)
    {
        var call = await TesterCall.SmallAsync([.. Small, "--steps=1-4,7", $"--layout={layout}", .. more]);
        call.AssertExit(0);
        var (metrics, file) = (call.Json().GetProperty("metrics"), call.Json().GetProperty("file"));
        Assert.Equal(layout, file.GetProperty("layout").GetString());
        Assert.Equal(0, metrics.GetProperty("bytes_wrong").GetInt64());
        Assert.InRange(metrics.GetProperty("bytes_verified").GetInt64(), file.GetProperty("bytes").GetInt64(), long.MaxValue);
        Assert.DoesNotContain("another-word", call.Output + call.Error, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Par2_step_reports_the_files_in_the_index()
    {
        var call = await TesterCall.SmallAsync("--size=1", "--article-size=20000", "--steps=1-4", "--layout=rar4", "--volumes=5", "--par2=2");
        call.AssertExit(0);
        Assert.Contains("5 files described, ", call.Output, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("rar5")]
    [InlineData("rar5-enc")]
    public async Task Missing_volume_article_ends_the_read_without_wrong_bytes(string layout)
    {
        var call = await TesterCall.SmallAsync([.. Small, "--steps=1-4,7", $"--layout={layout}", "--volumes=4", "--missing=7"]);
        call.AssertExit(0);
        var metrics = call.Json().GetProperty("metrics");
        Assert.Equal(0, metrics.GetProperty("bytes_wrong").GetInt64());
        Assert.InRange(metrics.GetProperty("bytes_verified").GetInt64(), 1, (1 << 20) - 10_000);
    }

    [Fact]
    public async Task Skipped_rar_parsing_reads_volumes_as_one_flat_file()
    {
        var call = await TesterCall.SmallAsync("--size=1", "--article-size=20000", "--json=-", "--steps=1-4,7", "--layout=rar5", "--volumes=4", "--skip-rar-parsing");
        call.AssertExit(0);
        Assert.InRange(call.Json().GetProperty("file").GetProperty("bytes").GetInt64(), (1 << 20) + 4, 2 << 20);
        Assert.Equal(0, call.Json().GetProperty("metrics").GetProperty("bytes_wrong").GetInt64());
    }
}
