// The bend of motion that is not straight, with the same bits as package warp. Sums of floats have
// a stated order.
#pragma once

#include "motion.cuh"

// binomial_float applies the kernel (1 4 6 4 1)/16.
HOST_DEVICE float binomial_float(float a, float b, float c, float d, float e) {
	return ((6 * c + 4 * (b + d)) + (a + e)) / 16;
}

// Means holds one frame's evidence about a cell: its mean acceleration in pixels of the picture
// times its credit, and the credit from 0 to 1.
struct Means {
	float x, y, credit;
};

struct Bend {
	float x, y;
};

// combined returns the bend from the evidence of two frames: factor times the mean of their
// accelerations, weighted by p_share and q_share, to the degree that the frames agree. dispute is
// the weight of their difference.
HOST_DEVICE Bend combined(Means p, Means q, float factor, float p_share, float q_share, float dispute) {
	float fp = factor / (p.credit + bend_doubt), fq = factor / (q.credit + bend_doubt);
	float px = p.x * fp, py = p.y * fp, qx = q.x * fq, qy = q.y * fq;
	float mx = px * p_share + qx * q_share, my = py * p_share + qy * q_share, dx = px - qx, dy = py - qy;
	float power = mx * mx + my * my;
	float k = power / (power + dispute * (dx * dx + dy * dy) + bend_noise);
	float credit = p.credit < q.credit ? p.credit : q.credit;
	k = k * (credit < 1 ? credit : 1.0f);
	Bend b = {mx * k, my * k};
	return b;
}

// round_to_int rounds to the nearest integer, ties away from zero.
HOST_DEVICE int32_t round_to_int(float v) { return v < 0 ? -(int32_t)(0.5f - v) : (int32_t)(v + 0.5f); }

// between interpolates bilinearly between four corners.
HOST_DEVICE int32_t between(float a, float b, float c, float d, float fx, float fy, float scale) {
	float top = a + fx * (b - a), bottom = c + fx * (d - c);
	return round_to_int((top + fy * (bottom - top)) * scale);
}
