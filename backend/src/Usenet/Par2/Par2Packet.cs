namespace Sluice.Usenet.Par2;

/// <summary>A packet of a PAR2 file, as far as names and matching need it.</summary>
/// <param name="SetId">The set that it belongs to: the MD5 of the body of the set's main packet, first byte highest.</param>
internal abstract record Par2Packet(UInt128 SetId);

/// <summary>The main packet: what the set protects.</summary>
/// <param name="SetId">Its set.</param>
/// <param name="SliceSize">Length of a slice in bytes, a multiple of 4.</param>
/// <param name="FileIds">The files that can be repaired, in the order of their slices.</param>
internal sealed record Par2Main(UInt128 SetId, long SliceSize, IReadOnlyList<UInt128> FileIds) : Par2Packet(SetId);

/// <summary>A file description.</summary>
/// <param name="SetId">Its set.</param>
/// <param name="File">The file.</param>
internal sealed record Par2Description(UInt128 SetId, Par2File File) : Par2Packet(SetId);

/// <summary>A name in Unicode, which goes before that of the description.</summary>
/// <param name="SetId">Its set.</param>
/// <param name="FileId">The file that it belongs to.</param>
/// <param name="Name">The name.</param>
internal sealed record Par2UnicodeName(UInt128 SetId, UInt128 FileId, string Name) : Par2Packet(SetId);

/// <summary>A slice for repair. Its header alone was looked at, so that its checksum proves nothing.</summary>
/// <param name="SetId">Its set.</param>
internal sealed record Par2Recovery(UInt128 SetId) : Par2Packet(SetId);

/// <summary>A file as the PAR2 set that protects it describes it.</summary>
/// <param name="Id">Its id in the set.</param>
/// <param name="Name">Its name, which may be a path and may try to lead out of its folder; never empty.</param>
/// <param name="Length">Its length in bytes.</param>
/// <param name="Md5">MD5 of the whole file, first byte highest.</param>
/// <param name="HeadMd5">MD5 of its first 16 KiB, or of all of it where it is shorter.</param>
public sealed record Par2File(UInt128 Id, string Name, long Length, UInt128 Md5, UInt128 HeadMd5);
