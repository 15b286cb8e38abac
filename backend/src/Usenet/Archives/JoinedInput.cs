namespace Sluice.Usenet.Archives;

/// <summary>Several inputs that follow each other and are read as one: the volumes of a 7z, a zip or a file that was cut.</summary>
/// <remarks>Thread-safe, as its inputs are. It owns nothing.</remarks>
public sealed class JoinedInput : IArchiveInput
{
    private readonly IReadOnlyList<IArchiveInput> _inputs;
    private readonly SplitSet _pieces;

    /// <summary>Joins whole inputs.</summary>
    /// <param name="inputs">They, in order.</param>
    public JoinedInput(IReadOnlyList<IArchiveInput> inputs)
        : this(inputs, SplitSet.OfVolumes(inputs.Select(input => input.Length)))
    {
    }

    /// <summary>Joins stretches of inputs.</summary>
    /// <param name="inputs">The volumes that the pieces count.</param>
    /// <param name="pieces">The stretches.</param>
    internal JoinedInput(IReadOnlyList<IArchiveInput> inputs, SplitSet pieces) => (_inputs, _pieces) = (inputs, pieces);

    /// <inheritdoc/>
    public long Length => _pieces.Length;

    /// <inheritdoc/>
    public async ValueTask ReadAsync(long offset, Memory<byte> buffer, CancellationToken cancellationToken)
    {
        foreach (var piece in _pieces.Slice(offset, buffer.Length))
        {
            // A slice of a buffer is never longer than the buffer.
            var length = (int)piece.Length;
            await _inputs[piece.Volume].ReadAsync(piece.Offset, buffer[..length], cancellationToken);
            buffer = buffer[length..];
        }
    }
}
