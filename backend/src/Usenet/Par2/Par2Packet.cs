namespace Sluice.Usenet.Par2;

/// <summary>A PAR2 packet with the fields needed for naming and matching.</summary>
/// <param name="SetId">The packet's set: the MD5 of the main packet's body, big-endian.</param>
internal abstract record Par2Packet(UInt128 SetId);

/// <summary>The main packet: slice length in bytes, a multiple of 4, and the repairable files in slice order.</summary>
internal sealed record Par2Main(UInt128 SetId, long SliceSize, IReadOnlyList<UInt128> FileIds) : Par2Packet(SetId);

internal sealed record Par2Description(UInt128 SetId, Par2File File) : Par2Packet(SetId);

/// <summary>A Unicode file name, which takes precedence over the name in the description.</summary>
internal sealed record Par2UnicodeName(UInt128 SetId, UInt128 FileId, string Name) : Par2Packet(SetId);

/// <summary>A recovery slice. Only its header is read, so its checksum is not verified.</summary>
internal sealed record Par2Recovery(UInt128 SetId) : Par2Packet(SetId);

/// <summary>A file as described by its PAR2 set.</summary>
/// <param name="Id">The file's id in the set.</param>
/// <param name="Name">A name or path that may try to escape its folder; never empty.</param>
/// <param name="Length">Length in bytes.</param>
/// <param name="Md5">MD5 of the whole file, big-endian.</param>
/// <param name="HeadMd5">MD5 of the first 16 KiB, or of a shorter whole file.</param>
public sealed record Par2File(UInt128 Id, string Name, long Length, UInt128 Md5, UInt128 HeadMd5);
