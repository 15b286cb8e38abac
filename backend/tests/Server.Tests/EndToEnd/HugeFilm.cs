using System.Globalization;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Order of the articles in an NZB.</summary>
public enum ListedOrder
{
    /// <summary>Sorted by number.</summary>
    Rising,

    /// <summary>Numbered, in random order.</summary>
    Shuffled,

    /// <summary>In order, without numbers.</summary>
    Unnumbered,
}

/// <summary>A film of so many small articles that its one file fills an NZB. Its text is generated while it is read, never held in memory.</summary>
internal sealed class HugeFilm(ulong seed, int articles, int articleSize, ListedOrder order)
{
    // Coprime to any smaller number of articles.
    private const long Prime = 15_485_863;

    public const string Name = "huge";

    public const string Path = $"content/movies/{Name}/film.mkv";

    public long Size => (long)articles * articleSize;

    /// <summary>Opens its NZB; the caller disposes it.</summary>
    public GeneratedTextStream OpenNzb() => new(Pieces());

    /// <summary>Fails unless the bytes equal the film at the offset.</summary>
    public void AssertEqual(long offset, ReadOnlySpan<byte> bytes)
    {
        var truth = new byte[bytes.Length];
        SyntheticContent.Fill(seed, 0, offset, truth);
        Assert.True(bytes.SequenceEqual(truth), $"Wrong byte at {offset + bytes.CommonPrefixLength(truth)}.");
    }

    private IEnumerable<string> Pieces()
    {
        yield return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<nzb xmlns=\"http://www.newzbin.com/DTD/2003/nzb\">"
            + "<file poster=\"p\" date=\"1795288940\" subject=\"&quot;film.mkv&quot; yEnc (1/1)\"><groups><group>a.b.t</group></groups><segments>\n";
        var id = new MockMessageId
        {
            Seed = seed,
            File = 0,
            Files = 1,
            Part = 1,
            Parts = articles,
            Begin = 0,
            Length = articleSize,
            FileSize = Size,
            Name = "f",
        };
        for (var i = 0; i < articles; i++)
        {
            var part = 1 + (order == ListedOrder.Shuffled ? (int)(i * Prime % articles) : i);
            var text = (id with { Part = part, Begin = (part - 1L) * articleSize }).ToString();
            yield return order == ListedOrder.Unnumbered
                ? $"<segment>{text}</segment>"
                : string.Create(CultureInfo.InvariantCulture, $"<segment number=\"{part}\">{text}</segment>");
        }

        yield return "</segments></file></nzb>";
    }
}
