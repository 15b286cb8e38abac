using System.Text;
using Sluice.Usenet.Nzb;
using Xunit;
using static Sluice.Usenet.Tests.Nzb.NzbSource;

namespace Sluice.Usenet.Tests.Nzb;

/// <summary>Whatever a file holds, it is read or refused with the one exception; order of lines means nothing.</summary>
public sealed class NzbMutationTests
{
    private static readonly string Sample = Document(
        "<head><meta type=\"title\">t</meta></head>",
        File("&quot;a.mkv&quot; (1/3)", Segment(1, "a1@x"), Segment(2, "a2@x"), Segment(3, "a3@x")),
        File("&quot;b.nfo&quot; (1/1)", Segment(1, "b1@x")),
        File("&quot;c.par2&quot; (1/2)", Segment(1, "c1@x"), Segment(2, "c2@x")));

    private static readonly string[] Pieces =
    [
        "<", ">", "/", "\"", "&", "&amp;", "&#0;", "&#xD800;", "<!--", "-->", "<![CDATA[", "]]>", "<?", "?>", "<!DOCTYPE nzb [", "]>",
        "<file>", "</file>", "<segment>", "</segment>", "<segments>", "</segments>", "</nzb>", "<nzb>", " number=\"-1\"", " number=\"2999999\"",
        " xmlns:q=\"q\"", "q:", "\0", "\uFFFE", "\u00FF", "99999999999999999999", " subject=\"\"", "encoding=\"utf-16\"",
    ];

    [Fact]
    public async Task Mutated_documents_are_read_or_refused_with_the_one_exception()
    {
        var random = new Random(20260117);
        var original = Encoding.UTF8.GetBytes(Sample);
        var (read, refused) = (0, 0);
        for (var i = 0; i < 12_000; i++)
        {
            var bytes = Mutate(original, random);
            try
            {
                var files = await ReadAsync(new MemoryStream(bytes), limits: new NzbLimits { MaxHoles = 1000 });
                Assert.All(files, file => Assert.Contains(file.Segments, segment => !segment.IsHole));
                read++;
            }
            catch (NzbFormatException refusal)
            {
                Assert.NotEmpty(refusal.Detail);
                refused++;
            }
        }

        // Both ways out are taken often, or the mutations say nothing.
        Assert.InRange(read, 1000, 11_000);
        Assert.InRange(refused, 1000, 11_000);
    }

    [Fact]
    public async Task Permuted_documents_give_one_result()
    {
        var random = new Random(7);
        string[] segments = [.. Enumerable.Range(1, 9).Select(number => Segment(number, $"id{number}@x"))];
        var expected = Describe(await ReadAsync(Document(File("s", segments), File("t", segments[..4]), File("u", segments[1..3]))));
        for (var i = 0; i < 3000; i++)
        {
            var (first, second, third) = ((string[])segments.Clone(), segments[..4], segments[1..3]);
            random.Shuffle(first);
            random.Shuffle(second);
            random.Shuffle(third);
            string[] files = [File("s", first), File("t", second), File("u", third), File("s", segments)];
            random.Shuffle(files);

            var read = await ReadAsync(Document(files));

            Assert.Equal(expected, Describe(read.OrderBy(file => file.Subject, StringComparer.Ordinal)));
        }
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(9223372036854775808)]
    [InlineData("x")]
    [InlineData(31_337)]
    public async Task Claimed_sizes_change_nothing_but_the_hint(object bytes)
    {
        var honest = await ReadAsync(Document(File("s", Segment(1, "a@x"), Segment(2, "b@x"))));
        var lying = await ReadAsync(Document(File("s", Segment(1, "a@x", bytes), Segment(2, "b@x", bytes))));

        Assert.Equal(Describe(honest), Describe(lying));
        Assert.All(lying[0].Segments, segment => Assert.InRange(segment.Bytes, 0, int.MaxValue));
    }

    private static byte[] Mutate(byte[] original, Random random)
    {
        var bytes = original.ToList();
        for (var changes = random.Next(1, 4); changes > 0; changes--)
        {
            var place = random.Next(bytes.Count);
            var length = Math.Min(random.Next(1, 40), bytes.Count - place);
            switch (random.Next(5))
            {
                case 0:
                    bytes[place] = (byte)random.Next(256);
                    break;
                case 1:
                    bytes.RemoveRange(place, length);
                    break;
                case 2:
                    bytes.InsertRange(place, Encoding.UTF8.GetBytes(Pieces[random.Next(Pieces.Length)]));
                    break;
                case 3:
                    bytes.InsertRange(random.Next(bytes.Count), bytes.GetRange(place, length));
                    break;
                default:
                    (bytes[place], bytes[^(place + 1)]) = (bytes[^(place + 1)], bytes[place]);
                    break;
            }
        }

        return [.. bytes];
    }
}
