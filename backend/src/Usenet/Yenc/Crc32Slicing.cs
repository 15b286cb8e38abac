using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Sluice.Usenet.Yenc;

/// <summary>Table-driven CRC-32 (slicing-by-8) for CPUs without CRC instructions.</summary>
internal static class Crc32Slicing
{
    private const int Slices = 8;

    // Tables[256 * k + b] is the remainder of byte b followed by k zero bytes.
    private static readonly uint[] Tables = BuildTables();

    /// <summary>Updates the register (the inverted checksum) with data.</summary>
    [MethodImpl(MethodImplOptions.AggressiveOptimization | MethodImplOptions.NoInlining)]
    public static uint Update(uint register, ReadOnlySpan<byte> data)
    {
        ref var tables = ref MemoryMarshal.GetArrayDataReference(Tables);
        while (data.Length >= Slices)
        {
            var low = BinaryPrimitives.ReadUInt32LittleEndian(data) ^ register;
            var high = BinaryPrimitives.ReadUInt32LittleEndian(data[4..]);
            register = Entry(ref tables, 7, low) ^ Entry(ref tables, 6, low >> 8) ^ Entry(ref tables, 5, low >> 16) ^ Entry(ref tables, 4, low >> 24)
                ^ Entry(ref tables, 3, high) ^ Entry(ref tables, 2, high >> 8) ^ Entry(ref tables, 1, high >> 16) ^ Entry(ref tables, 0, high >> 24);
            data = data[Slices..];
        }

        foreach (var b in data)
            register = (register >> 8) ^ Entry(ref tables, 0, register ^ b);
        return register;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static uint Entry(ref uint tables, int slice, uint index) => Unsafe.Add(ref tables, (256 * slice) + (byte)index);

    private static uint[] BuildTables()
    {
        var tables = new uint[256 * Slices];
        for (var b = 0u; b < 256; b++)
        {
            var remainder = b;
            for (var bit = 0; bit < 8; bit++)
                remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? Crc32Kernel.Polynomial : 0);
            tables[b] = remainder;
        }

        for (var i = 256; i < tables.Length; i++)
            tables[i] = (tables[i - 256] >> 8) ^ tables[(byte)tables[i - 256]];
        return tables;
    }
}
