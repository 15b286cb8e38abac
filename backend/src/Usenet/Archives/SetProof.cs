using Sluice.Usenet.Streams;

namespace Sluice.Usenet.Archives;

/// <summary>Tracks the verification of one set's predicted volumes.</summary>
/// <remarks>
/// <para>
/// A volume is open until its head has been seen, unless PAR2 gives its length. A volume is verified once its head has been seen and either no earlier or no
/// later volume is open. So everything outside the first and the last open volume is decided, and only heads between these two are ever fetched.
/// </para>
/// <para>Thread-safe. <c>_gate</c> guards all fields; no callback runs while it is held.</para>
/// </remarks>
internal sealed class SetProof
{
    private readonly Lock _gate = new();
    private readonly object _key;
    private readonly IReadOnlyList<PredictedVolume> _volumes;
    private readonly IPredictionOwner _owner;
    private readonly Dictionary<int, int> _byPlace;
    private readonly bool[] _isSeen;
    private readonly bool[] _isReported;
    private readonly Task<bool>?[] _runningChecks;

    // Positions of the first and last open volume; past the end and before the beginning if no volume is open.
    private int _first;
    private int _last;
    private bool _isRefuted;
    private bool _isSought;

    public SetProof(object key, IReadOnlyList<PredictedVolume> volumes, IPredictionOwner owner)
    {
        (_key, _volumes, _owner) = (key, volumes, owner);
        _byPlace = volumes.Index().ToDictionary(volume => volume.Item.Place, volume => volume.Index);
        (_isSeen, _isReported, _runningChecks) = (new bool[volumes.Count], new bool[volumes.Count], new Task<bool>?[volumes.Count]);
        _last = volumes.Count - 1;
        NarrowBounds([]);
    }

    /// <summary>Accepts the volumes for which the owner still has predictions, and treats all others as verified.</summary>
    /// <returns>False if the volumes belong to another map.</returns>
    public bool TryTake(IReadOnlyList<PredictedVolume> volumes)
    {
        List<PredictedVolume> proved = [];
        lock (_gate)
        {
            if (volumes.Any(volume => !_byPlace.TryGetValue(volume.Place, out var index) || _volumes[index] != volume))
                return false;
            if (volumes.Count < _volumes.Count)
            {
                var left = volumes.Select(volume => volume.Place).ToHashSet();
                for (var i = 0; i < _volumes.Count; i++)
                {
                    if (!left.Contains(_volumes[i].Place))
                        _isSeen[i] = _isReported[i] = true;
                }

                NarrowBounds(proved);
            }
        }

        ReportProved(proved);
        return true;
    }

    /// <summary>Whether bytes of a volume may be served without further checks.</summary>
    public bool IsProved(int place)
    {
        lock (_gate)
            return IsProvedAt(_byPlace[place]);
    }

    /// <summary>
    /// Returns the open volumes before and after a position, the shorter side first. One side must be checked before a byte of the volume is served. Each side
    /// runs from the edge of the set inwards, so that every head that arrives in order verifies its volume.
    /// </summary>
    public (IReadOnlyList<int> Near, IReadOnlyList<int> Far) SidesOf(int place)
    {
        bool isFirst;
        List<int> before = [], behind = [];
        lock (_gate)
        {
            var index = _byPlace[place];
            for (var i = _first; i < index; i++)
                AddOpen(i, before);
            for (var i = _last; i > index; i--)
                AddOpen(i, behind);
            isFirst = before.Count > 0 && behind.Count > 0 && !_isSought;
            _isSought |= isFirst;
        }

        if (isFirst)
            _owner.OnSought(_key);
        return before.Count <= behind.Count ? (before, behind) : (behind, before);
    }

    public IReadOnlyList<int> OpenPlaces()
    {
        List<int> open = [];
        lock (_gate)
        {
            for (var i = _first; i <= _last; i++)
                AddOpen(i, open);
        }

        return open;
    }

    /// <summary>Checks one volume. Other readers wait for the result and take over if the check is canceled. No reader waits for a background check.</summary>
    /// <exception cref="RefutedExtentException">This or another volume of the set contradicts its prediction.</exception>
    public async Task CheckAsync(int place, Func<CancellationToken, Task<bool>> isTrueAsync, bool isReader, CancellationToken cancellationToken)
    {
        var index = _byPlace[place];
        while (true)
        {
            Task<bool>? others;
            var own = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
            lock (_gate)
            {
                if (_isRefuted)
                    throw new RefutedExtentException();
                if (_isSeen[index])
                    return;
                others = _runningChecks[index];
                if (isReader)
                    _runningChecks[index] ??= own.Task;
            }

            if (others is null)
            {
                await CheckAsync(index, isReader ? own : null, isTrueAsync, cancellationToken);
                return;
            }

            await others.WaitAsync(cancellationToken);
        }
    }

    private async Task CheckAsync(int index, TaskCompletionSource<bool>? own, Func<CancellationToken, Task<bool>> isTrueAsync, CancellationToken cancellationToken)
    {
        bool? isTrue = null;
        var isFirstRefusal = false;
        List<PredictedVolume> proved = [];
        try
        {
            isTrue = await isTrueAsync(cancellationToken);
        }
        finally
        {
            lock (_gate)
            {
                if (own is not null)
                    _runningChecks[index] = null;
                if (isTrue == true)
                    MarkSeen(index, proved);
                isFirstRefusal = isTrue == false && !_isRefuted;
                _isRefuted |= isTrue == false;
            }

            own?.SetResult(isTrue == true);
        }

        ReportProved(proved);
        if (isFirstRefusal)
            _owner.OnRefuted(_key);
        if (isTrue == false)
            throw new RefutedExtentException();
    }

    private void MarkSeen(int index, List<PredictedVolume> proved)
    {
        _isSeen[index] = true;
        NarrowBounds(proved);
        if (IsProvedAt(index))
            AddProved(index, proved);
    }

    /// <summary>Moves the bounds to the first and the last open volume. Volumes outside the bounds are verified if their heads have been seen.</summary>
    private void NarrowBounds(List<PredictedVolume> proved)
    {
        for (; _first < _volumes.Count && !IsOpen(_first); _first++)
            AddProved(_first, proved);
        for (; _last >= 0 && !IsOpen(_last); _last--)
            AddProved(_last, proved);
    }

    private void AddProved(int index, List<PredictedVolume> proved)
    {
        if (!_isSeen[index] || _isReported[index])
            return;
        _isReported[index] = true;
        proved.Add(_volumes[index]);
    }

    private void AddOpen(int index, List<int> open)
    {
        if (IsOpen(index))
            open.Add(_volumes[index].Place);
    }

    private bool IsOpen(int index) => !_isSeen[index] && !_volumes[index].HasKnownLength;

    private bool IsProvedAt(int index) => _isSeen[index] && (index < _first || index > _last);

    private void ReportProved(List<PredictedVolume> proved)
    {
        if (proved.Count > 0)
            _owner.OnProved(_key, proved);
    }
}
