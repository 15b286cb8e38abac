namespace Sluice.Usenet.Streams.Memory;

/// <summary>A block on loan from the pool.</summary>
/// <param name="Bytes"><see cref="BlockPool.BlockSize"/> of them; null for no block.</param>
/// <param name="Loan">Which loan of these bytes it is; told apart where misuse is looked for, else 0.</param>
internal readonly record struct Block(byte[]? Bytes, int Loan);
