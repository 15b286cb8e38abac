using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Tests.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Mock;

public sealed class PlacementTests
{
    [Theory]
    [InlineData(0, 0)]
    [InlineData(1, 100)]
    [InlineData(7, 3)]
    [InlineData(4_000_000_000_003, 65)]
    public void Content_of_any_range_follows_the_formula(long offset, int length)
    {
        var bytes = new byte[length];
        SyntheticContent.Fill(42, 3, offset, bytes);
        for (var i = 0; i < length; i++)
            Assert.Equal(ByteOf(42, 3, (ulong)(offset + i)), bytes[i]);
    }

    [Fact]
    public void Message_id_describes_its_article()
    {
        var release = MockRelease.Plain(seed: 0xFEED, size: 2_000_000, files: 2, articleSize: 300_000);
        Assert.True(MockMessageId.TryParse(release.MessageId(1, 4), out var id));
        Assert.Equal((0xFEEDUL, 1, 2, 4, 4), (id.Seed, id.File, id.Files, id.Part, id.Parts));
        Assert.Equal((900_000L, 100_000, 1_000_000L, "film-02.mkv"), (id.Begin, id.Length, id.FileSize, id.Name));
        var file = new byte[1_000_000];
        release.Fill(1, 0, file);
        Assert.Equal(YencReference.Crc(file), id.FileCrc);
        Assert.Equal(release.MessageId(1, 4), id.ToString());
    }

    [Theory]
    [InlineData(null)]
    [InlineData("")]
    [InlineData("a@b")]
    [InlineData("@sluice.mock")]
    [InlineData("plain.1.0.1.1.1.0.10.10.-@sluice.mock")]
    [InlineData("plain.1.1.1.1.1.0.10.10.-.YQ@sluice.mock")]
    [InlineData("plain.1.0.1.2.1.0.10.10.-.YQ@sluice.mock")]
    [InlineData("plain.1.0.1.1.1.5.10.10.-.YQ@sluice.mock")]
    [InlineData("plain.1.0.1.1.1.0.-1.10.-.YQ@sluice.mock")]
    [InlineData("plain.1.0.1.1.1.0.999999999.9999999999.-.YQ@sluice.mock")]
    [InlineData("plain.1.0.1.1.1.0.10.10.-.DQo@sluice.mock")]
    public void Foreign_message_ids_are_not_parsed(string? text) => Assert.False(MockMessageId.TryParse(text, out _));

    [Theory]
    [InlineData("17,200-203", 1, 201, true)]
    [InlineData("17,200-203", 5, 17, true)]
    [InlineData("17,200-203", 1, 18, false)]
    [InlineData("2:17", 2, 17, true)]
    [InlineData("2:17", 1, 17, false)]
    [InlineData("1", 1, 1, true)]
    [InlineData("1", 1, 2, false)]
    public async Task Selection_list_selects_files_and_parts(string list, int file, int part, bool missing)
    {
        var release = MockRelease.Plain(1, 5 * 300 * 10, files: 5, articleSize: 10);
        await using var mock = await Sluice.Tools.MockNntpServer.MockServer.StartAsync(new() { Missing = ArticleSelection.Parse(list) });
        await using var client = await RawClient.OpenAsync(mock.Port);
        var answer = await client.AskAsync($"STAT <{release.MessageId(file - 1, part)}>");
        Assert.StartsWith(missing ? "430 " : "223 ", answer, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("0", 0)]
    [InlineData("0.25", 0.25)]
    [InlineData("1.0", 1)]
    [InlineData("5%", 0.05)]
    public void Selection_with_a_dot_or_percent_sign_is_a_rate(string text, double rate) => Assert.Equal(rate, ArticleSelection.Parse(text).Rate);

    [Theory]
    [InlineData("")]
    [InlineData("x")]
    [InlineData("1.5")]
    [InlineData("-3")]
    [InlineData("101%")]
    public void Invalid_selections_are_refused(string text) => Assert.Throws<FormatException>(() => ArticleSelection.Parse(text));

    [Fact]
    public void Fault_script_is_read_line_by_line()
    {
        var faults = FaultScript.Parse("""
            # the provider's bad day
            {"kind":"body.stall","offset":65536,"ms":10000,"rate":0.01,"provider":0,"close":false}

            {"kind":"command.451","article":"17,20-30","verb":"body","count":3,"tries":2,"after_ms":5,"until_ms":10,"connection":4,"everywhere":true}
            """);
        Assert.Equal(
            new MockFault { Kind = FaultKind.BodyStall, Offset = 65536, Duration = TimeSpan.FromSeconds(10), Rate = 0.01, Provider = 0, CloseAfterStall = false }, faults[0]);
        Assert.Equal(
            new MockFault
            {
                Kind = FaultKind.Command451,
                Articles = faults[1].Articles,
                Verb = "BODY",
                Count = 3,
                Tries = 2,
                After = TimeSpan.FromMilliseconds(5),
                Until = TimeSpan.FromMilliseconds(10),
                Connection = 4,
                Everywhere = true,
            },
            faults[1]);
    }

    [Theory]
    [InlineData("{\"kind\":\"body.explode\"}")]
    [InlineData("{\"kind\":\"coverage\"}")]
    [InlineData("{\"offset\":3}")]
    [InlineData("{\"kind\":\"body.fin\",\"rat\":0.1}")]
    [InlineData("{\"kind\":\"body.fin\",\"rate\":1.1}")]
    [InlineData("{\"kind\":\"body.fin\",\"offset\":-1}")]
    [InlineData("{\"kind\":\"body.fin\"")]
    [InlineData("[]")]
    public void Fault_script_error_reports_its_line(string line)
    {
        var refused = Assert.Throws<FormatException>(() => FaultScript.Parse("\n" + line));
        Assert.StartsWith("Line 2 ", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Every_fault_kind_has_a_unique_name()
    {
        foreach (var kind in FaultNames.Scriptable)
        {
            Assert.True(FaultNames.TryParse(FaultNames.Of(kind), out var parsed));
            Assert.Equal(kind, parsed);
        }

        Assert.Equal(Enum.GetValues<FaultKind>().Length - 1, FaultNames.Scriptable.Count());
    }

    /// <summary>Computes a byte of a file by the definition in the contract.</summary>
    private static byte ByteOf(ulong seed, int file, ulong k)
    {
        var s = Mix(seed ^ Mix((ulong)file + 1));
        return (byte)(Mix(s + (((k / 8) + 1) * 0x9E3779B97F4A7C15)) >> (int)(8 * (k % 8)));
    }

    private static ulong Mix(ulong z)
    {
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }
}
