using System.Text;
using Sluice.Testing;
using Sluice.Usenet.Nzb;
using Xunit;
using static Sluice.Usenet.Tests.Nzb.NzbSource;

namespace Sluice.Usenet.Tests.Nzb;

/// <summary>Any document is read or refused with NzbFormatException, and the order of lines does not matter.</summary>
public sealed class NzbMutationTests
{
    private const int PerPart = 2000;
    private const int Seed = 20260117;

    private static readonly string Sample = Document(
        "<head><meta type=\"title\">t</meta></head>",
        File("&quot;a.mkv&quot; (1/3)", Segment(1, "a1@x"), Segment(2, "a2@x"), Segment(3, "a3@x")),
        File("&quot;b.nfo&quot; (1/1)", Segment(1, "b1@x")),
        File("&quot;c.par2&quot; (1/2)", Segment(1, "c1@x"), Segment(2, "c2@x")));

    /// <summary>100,000 documents including permuted ones, in parts that run concurrently.</summary>
    [Fact]
    public Task SAB93_Mutated_documents_give_files_or_NzbFormatException() => MutateAsync(parts: 45, Seed);

    [Fact]
    [Trait("Category", "Long")]
    public Task SAB93_Twice_the_mutations_give_files_or_NzbFormatException() => MutateAsync(parts: 90, Seed + 1000);

    [Fact]
    public Task SAB93_Permuted_documents_give_the_same_result() => PermuteAsync(parts: 5, Seed);

    [Fact]
    [Trait("Category", "Long")]
    public Task SAB93_Twice_the_permutations_give_the_same_result() => PermuteAsync(parts: 10, Seed + 1000);

    private static async Task MutateAsync(int parts, int seed)
    {
        var original = Encoding.UTF8.GetBytes(Sample);
        var (read, refused) = (0, 0);
        await Parallel.ForAsync(0, parts, TestContext.Current.CancellationToken, async (part, _) =>
        {
            var random = new Random(seed + part);
            for (var i = 0; i < PerPart; i++)
            {
                try
                {
                    var files = await ReadAsync(new MemoryStream(MutatedNzb.Of(original, random)), limits: new NzbLimits { MaxHoles = 1000 });
                    Assert.All(files, file => Assert.Contains(file.Segments, segment => !segment.IsHole));
                    Interlocked.Increment(ref read);
                }
                catch (NzbFormatException refusal)
                {
                    Assert.NotEmpty(refusal.Detail);
                    Interlocked.Increment(ref refused);
                }
            }
        });

        // Mutations prove something only if both outcomes are frequent.
        Assert.InRange(read, parts * PerPart / 12, parts * PerPart * 11 / 12);
        Assert.Equal(parts * PerPart, read + refused);
    }

    private static async Task PermuteAsync(int parts, int seed)
    {
        string[] segments = [.. Enumerable.Range(1, 9).Select(number => Segment(number, $"id{number}@x"))];
        var expected = Describe(await ReadAsync(Document(File("s", segments), File("t", segments[..4]), File("u", segments[1..3]))));
        await Parallel.ForAsync(0, parts, TestContext.Current.CancellationToken, async (part, _) =>
        {
            var random = new Random(seed + part);
            for (var i = 0; i < PerPart; i++)
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
        });
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(9223372036854775808)]
    [InlineData("x")]
    [InlineData(31_337)]
    public async Task Claimed_sizes_change_only_the_size_hint(object bytes)
    {
        var honest = await ReadAsync(Document(File("s", Segment(1, "a@x"), Segment(2, "b@x"))));
        var lying = await ReadAsync(Document(File("s", Segment(1, "a@x", bytes), Segment(2, "b@x", bytes))));

        Assert.Equal(Describe(honest), Describe(lying));
        Assert.All(lying[0].Segments, segment => Assert.InRange(segment.Bytes, 0, int.MaxValue));
    }
}
