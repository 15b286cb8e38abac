namespace Sluice.Usenet.Archives;

/// <summary>Reads consecutive inputs as one: the volumes of a 7z, a zip or a split file. Thread-safe if its inputs are. Owns nothing.</summary>
public sealed class JoinedInput : IArchiveInput
{
    private readonly IReadOnlyList<IArchiveInput> _inputs;
    private readonly SplitSet _pieces;

    /// <summary>Joins whole inputs in the given order.</summary>
    public JoinedInput(IReadOnlyList<IArchiveInput> inputs)
        : this(inputs, SplitSet.OfVolumes(inputs.Select(input => input.Length)))
    {
    }

    /// <summary>Joins ranges of inputs; the volume numbers of <paramref name="pieces"/> index <paramref name="inputs"/>.</summary>
    internal JoinedInput(IReadOnlyList<IArchiveInput> inputs, SplitSet pieces) => (_inputs, _pieces) = (inputs, pieces);

    public long Length => _pieces.Length;

    public async ValueTask ReadAsync(long offset, Memory<byte> buffer, CancellationToken cancellationToken)
    {
        foreach (var piece in _pieces.Slice(offset, buffer.Length))
        {
            // Fits in an int, because a slice is never longer than the buffer.
            var length = (int)piece.Length;
            await _inputs[piece.Volume].ReadAsync(piece.Offset, buffer[..length], cancellationToken);
            buffer = buffer[length..];
        }
    }
}
