using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using ArmCrc32 = System.Runtime.Intrinsics.Arm.Crc32;

namespace Sluice.Usenet.Yenc;

/// <summary>CRC-32 of short data, and of all data on CPUs without carry-less multiplication.</summary>
internal static class Crc32Short
{
    /// <summary>Updates the register (the inverted checksum) with data.</summary>
    public static uint Update(uint register, ReadOnlySpan<byte> data) =>
        ArmCrc32.Arm64.IsSupported ? UpdateArm(register, data) : Crc32Slicing.Update(register, data);

    /// <summary>Processes eight bytes per instruction. A Raspberry Pi 4 has these instructions but no PMULL. On x86 they use another polynomial.</summary>
    [MethodImpl(MethodImplOptions.AggressiveOptimization | MethodImplOptions.NoInlining)]
    internal static uint UpdateArm(uint register, ReadOnlySpan<byte> data)
    {
        for (; data.Length >= sizeof(ulong); data = data[sizeof(ulong)..])
            register = ArmCrc32.Arm64.ComputeCrc32(register, BinaryPrimitives.ReadUInt64LittleEndian(data));
        foreach (var b in data)
            register = ArmCrc32.ComputeCrc32(register, b);
        return register;
    }
}
