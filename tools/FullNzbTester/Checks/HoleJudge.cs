using System.Buffers;
using System.Globalization;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Yenc;

namespace Sluice.Tools.FullNzbTester.Checks;

/// <summary>
/// Checks whether the article that aborted a read is really missing. It asks the mock with its own NNTP client, because the engine under
/// test must not judge itself. A hole is a failure of the engine if a good copy exists.
/// </summary>
internal sealed class HoleJudge(IReadOnlyList<ProviderOptions> providers)
{
    /// <summary>Returns a message for each hole whose article is available.</summary>
    public async Task<IReadOnlyList<string>> JudgeAsync(IEnumerable<Hole> holes, CancellationToken cancellationToken)
    {
        var sentences = new List<string>();
        foreach (var hole in holes.Distinct())
        {
            foreach (var provider in providers)
            {
                if (!hole.File.Articles[hole.Segment].Id.IsEmpty && await HoldsGoodCopyAsync(provider, hole, cancellationToken))
                    sentences.Add(string.Create(CultureInfo.InvariantCulture, $"the read was aborted at article {hole.Segment + 1} of {hole.File.Name}, but {provider.Name} has a good copy of it"));
            }
        }

        return sentences;
    }

    private static async Task<bool> HoldsGoodCopyAsync(ProviderOptions provider, Hole hole, CancellationToken cancellationToken)
    {
        var id = hole.File.Articles[hole.Segment].Id;
        var body = await RawNewsClient.FetchBodyAsync(provider, id, cancellationToken);
        if (body is null)
            return false;

        var decoder = new ArticleDecoder();
        var output = new ArrayBufferWriter<byte>(body.Length);
        if (!decoder.Decode(body, output, out _))
            return false;
        var result = decoder.GetResult();
        return result.ExpectedCrc == result.ComputedCrc
            && MockMessageId.TryParse(id.ToString(), out var made)
            && output.WrittenCount == made.Length
            && hole.File.TruthOfPosted?.Invoke(made).FirstDifference(made.Begin, output.WrittenSpan) < 0;
    }
}
