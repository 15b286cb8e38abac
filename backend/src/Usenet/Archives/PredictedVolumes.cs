using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Archives;

/// <summary>A predicted volume with its posted file, whose map is predicted too.</summary>
/// <param name="Volume">What was predicted.</param>
/// <param name="File">The posted file; its ids have to stay readable as long as a proof of it is asked for.</param>
public readonly record struct PredictedFile(PredictedVolume Volume, PostedFile File);

/// <summary>Looks into predicted volumes before any of their bytes leave, and remembers what it has found (IMP-52).</summary>
/// <remarks>
/// <para>
/// A volume is as predicted if its first article claims the length that was predicted for the posted file, and its headers have the data of the
/// same file at the same place. That alone does not say where in the file this data belongs: volumes before it may be longer and shorter so
/// that the sum comes out right. So before a byte of a volume leaves, all predicted volumes before it or all behind it are looked into as well,
/// whichever are fewer; those whose posted length PAR2 tells are spared. Then every length on one side is known, and the whole is known to be
/// the sum. A reader that goes forward from the beginning, or looks at the end, asks for one head per volume.
/// </para>
/// <para>Thread-safe; one per process. Fetches in lane Playback, because a viewer waits.</para>
/// </remarks>
public sealed class PredictedVolumes
{
    private const int MaxSets = 1000;

    private readonly Lock _gate = new();
    private readonly AgingMap<object, SetProof> _sets;
    private readonly IArticleSource _source;
    private readonly Action<object> _refuted;

    /// <summary>Creates it.</summary>
    /// <param name="source">Where heads come from; not owned.</param>
    /// <param name="refuted">Told the key of a set once, when one of its volumes is not as predicted: its release has to be mapped anew, without predictions.</param>
    /// <param name="time">Clock of what is remembered.</param>
    public PredictedVolumes(IArticleSource source, Action<object> refuted, TimeProvider time)
    {
        (_source, _refuted) = (source, refuted);
        _sets = new AgingMap<object, SetProof>(MaxSets, TimeSpan.FromDays(7), time);
    }

    /// <summary>The proofs of a set, one for each of its predicted volumes in the same order.</summary>
    /// <param name="key">Equal for the same set of the same map as long as the process runs.</param>
    /// <param name="files">All predicted volumes of the set by rising place, those included that no byte is read of.</param>
    public IReadOnlyList<IExtentProof> For(object key, IReadOnlyList<PredictedFile> files)
    {
        ArgumentNullException.ThrowIfNull(key);
        ArgumentNullException.ThrowIfNull(files);
        SetProof? known;
        lock (_gate)
        {
            if (!_sets.TryGet(key, out known, out _) || known.Count != files.Count)
                _sets.Set(key, known = new SetProof([.. files.Select(file => RarExpectation.HasKnownLength(file.Volume))], () => _refuted(key)));
        }

        var check = new VolumeCheck(_source);
        return [.. files.Select((_, place) => new Proof(known, files, place, check))];
    }

    private sealed class Proof(SetProof set, IReadOnlyList<PredictedFile> files, int place, VolumeCheck check) : IExtentProof
    {
        private volatile bool _isProved;

        public bool IsProved => _isProved || (_isProved = set.Open(place).Count == 0);

        public async ValueTask ProveAsync(IPostedHeads? heads, CancellationToken cancellationToken) => await Task.WhenAll(
            set.Open(place).Select(open => set.ProveAsync(open, token => check.IsTrueAsync(files[open], open == place ? heads : null, token), cancellationToken)));

        public async ValueTask ProveOwnAsync(IPostedHeads heads, CancellationToken cancellationToken) =>
            await set.ProveAsync(place, token => check.IsTrueAsync(files[place], heads, token), cancellationToken);
    }
}

/// <summary>What is known of the predicted volumes of one set.</summary>
/// <remarks>Thread-safe. <c>_gate</c> guards all fields; nothing is called under it.</remarks>
/// <param name="hasKnownLength">For each volume whether its length was told and not predicted.</param>
/// <param name="refuted">Called once, when one is not as predicted.</param>
internal sealed class SetProof(bool[] hasKnownLength, Action refuted)
{
    private readonly Lock _gate = new();
    private readonly bool[] _isProved = new bool[hasKnownLength.Length];
    private readonly Task<bool>?[] _underWay = new Task<bool>?[hasKnownLength.Length];
    private bool _isRefuted;

    /// <summary>Number of volumes.</summary>
    public int Count => hasKnownLength.Length;

    /// <summary>The volumes that have to be looked into before a byte of one of them leaves: none, once it is proved.</summary>
    public IReadOnlyList<int> Open(int place)
    {
        lock (_gate)
        {
            List<int> open = [.. Enumerable.Range(0, Count).Where(other => other != place && !_isProved[other] && !hasKnownLength[other])];
            List<int> before = [.. open.Where(other => other < place)];
            List<int> behind = [.. open.Where(other => other > place)];
            var side = before.Count <= behind.Count ? before : behind;
            return _isProved[place] ? side : [place, .. side];
        }
    }

    /// <summary>Looks into one volume, by one reader at a time: others wait for what that one finds, and take over where it gives up.</summary>
    /// <exception cref="RefutedExtentException">It, or another one, is not as predicted.</exception>
    public async Task ProveAsync(int place, Func<CancellationToken, Task<bool>> isTrueAsync, CancellationToken cancellationToken)
    {
        while (true)
        {
            Task<bool>? others;
            var own = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
            lock (_gate)
            {
                if (_isRefuted)
                    throw new RefutedExtentException();
                if (_isProved[place])
                    return;
                others = _underWay[place];
                _underWay[place] ??= own.Task;
            }

            if (others is null)
            {
                await LookAsync(place, own, isTrueAsync, cancellationToken);
                return;
            }

            await others.WaitAsync(cancellationToken);
        }
    }

    private async Task LookAsync(int place, TaskCompletionSource<bool> own, Func<CancellationToken, Task<bool>> isTrueAsync, CancellationToken cancellationToken)
    {
        bool? isTrue = null;
        var isFirstRefusal = false;
        try
        {
            isTrue = await isTrueAsync(cancellationToken);
        }
        finally
        {
            lock (_gate)
            {
                _underWay[place] = null;
                _isProved[place] |= isTrue == true;
                isFirstRefusal = isTrue == false && !_isRefuted;
                _isRefuted |= isTrue == false;
            }

            own.SetResult(isTrue == true);
        }

        if (isFirstRefusal)
            refuted();
        if (isTrue == false)
            throw new RefutedExtentException();
    }
}

/// <summary>Looks into one volume.</summary>
/// <param name="source">Where its head comes from; not owned.</param>
internal sealed class VolumeCheck(IArticleSource source)
{
    // Longer than headers with the longest names of films are.
    private const int HeadBytes = 16 << 10;

    private static readonly ProbeOptions Options = new() { Lane = OperationLane.Playback, HeadBytes = HeadBytes, TrailerPatience = TimeSpan.Zero };

    /// <summary>Whether a volume is as predicted.</summary>
    /// <param name="predicted">The volume.</param>
    /// <param name="heads">Where its beginning may be had without a fetch; null: nowhere.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="ArticleGoneException">Its head is gone at every provider.</exception>
    /// <exception cref="ArticleDoubtedException">Its head came damaged from every provider that has it.</exception>
    /// <exception cref="NntpException">Nothing can be said.</exception>
    public async Task<bool> IsTrueAsync(PredictedFile predicted, IPostedHeads? heads, CancellationToken cancellationToken)
    {
        // What a stream reads anyway can say that the volume is as predicted; that it is not, an article says that is asked for that alone.
        if (heads is not null && await heads.ReadHeadAsync(predicted.File, HeadBytes, cancellationToken) is { } read && await IsAsReadAsync(predicted, read, cancellationToken))
            return true;
        var unseen = new FileHead { Members = [0], Subject = default, Ids = predicted.File.Ids, State = HeadState.Skipped };
        var prober = new ReleaseProber(source, Options);
        var head = (await prober.ContinueAsync([unseen], isWhole: false, cancellationToken))[0];
        if (head.State == HeadState.Found && await IsAsPredictedAsync(head))
            return true;

        // Its beginning may be damaged at one provider: the verdict is spoken over proved bytes.
        head = await prober.ProveHeadAsync(unseen, cancellationToken);
        return head.State switch
        {
            HeadState.Found => await IsAsPredictedAsync(head),
            HeadState.Corrupt => throw new ArticleDoubtedException(0, TimeSpan.Zero),
            _ => throw new ArticleGoneException(ArticleLoss.Missing, 0),
        };

        async Task<bool> IsAsPredictedAsync(FileHead seen) =>
            seen.Map?.Equals(predicted.File.Map) == true && await RarExpectation.IsMetAsync(predicted.Volume, seen, cancellationToken);
    }

    private static async Task<bool> IsAsReadAsync(PredictedFile predicted, PostedHead read, CancellationToken cancellationToken)
    {
        var head = new FileHead { Members = [0], Subject = default, Ids = predicted.File.Ids, State = HeadState.Found, Map = predicted.File.Map, FirstBytes = read.Bytes };
        return read.ClaimedLength == predicted.File.Map.Length && await RarExpectation.IsMetAsync(predicted.Volume, head, cancellationToken);
    }
}

/// <summary>What the headers of a predicted volume have to say besides where the data lies: as a text that a store can keep.</summary>
internal static class RarExpectation
{
    private const string LengthAlone = "length";
    private const string KnownLength = "+";

    /// <summary>Describes a volume that was predicted.</summary>
    /// <param name="volume">The volume.</param>
    /// <param name="posted">Index of the posted file.</param>
    /// <param name="place">Its place in the set.</param>
    /// <param name="hasKnownLength">Whether its posted length was told by PAR2.</param>
    public static PredictedVolume Of(RarVolume volume, int posted, int place, bool hasKnownLength)
    {
        var part = volume.Head!;
        return new PredictedVolume(posted, part.DataOffset, part.DataLength, 0, place, TextOf(volume, part) + (hasKnownLength ? KnownLength : ""));
    }

    /// <summary>Describes a piece without headers, of which the length is all that can be seen.</summary>
    public static string OfLength(bool hasKnownLength) => LengthAlone + (hasKnownLength ? KnownLength : "");

    /// <summary>Whether the length of the posted file was told and not predicted.</summary>
    public static bool HasKnownLength(PredictedVolume volume) => volume.Expected.EndsWith(KnownLength, StringComparison.Ordinal);

    /// <summary>Whether a volume is what it has to be.</summary>
    public static async Task<bool> IsMetAsync(PredictedVolume expected, FileHead head, CancellationToken cancellationToken)
    {
        if (expected.Expected.StartsWith(LengthAlone, StringComparison.Ordinal))
            return true;
        try
        {
            var window = new HeaderWindow(new HeadInput(head.FirstBytes, head.Map!.Length), new ArchiveBudget());
            var volume = await RarVolumeReader.ReadAsync(window, new RarPasswords(new ArchiveKeys([], new KeyDeriver())), RarDepth.FirstFile, cancellationToken);
            return volume.Head is { IsSplitBefore: true, IsSplitAfter: true } part
                && (part.DataOffset, part.DataLength) == (expected.DataOffset, expected.DataLength)
                && expected.Expected.TrimEnd(KnownLength[0]) == TextOf(volume, part);
        }
        catch (ArchiveException)
        {
            // What does not begin as a volume of its set is not as predicted.
            return false;
        }
    }

    private static string TextOf(RarVolume volume, RarPart part)
    {
        var identity = SHA256.HashData(Encoding.UTF8.GetBytes(part.Identity.ToString()));
        var number = volume.Format == ArchiveFormat.Rar5 ? volume.Number ?? 0 : 0;
        return string.Create(CultureInfo.InvariantCulture, $"{volume.Format} {number} {Convert.ToHexStringLower(identity.AsSpan(0, 16))}");
    }

    /// <summary>The beginning of a volume, and nothing behind it.</summary>
    private sealed class HeadInput(ReadOnlyMemory<byte> head, long length) : IArchiveInput
    {
        public long Length => length;

        public ValueTask ReadAsync(long offset, Memory<byte> buffer, CancellationToken cancellationToken)
        {
            if (offset + buffer.Length > head.Length)
                throw new ArchiveException(ArchiveFault.Broken, "its headers are longer than those of the others");
            head.Slice((int)offset, buffer.Length).CopyTo(buffer);
            return ValueTask.CompletedTask;
        }
    }
}
